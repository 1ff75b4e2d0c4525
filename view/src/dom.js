// The only way to the page: elements with attributes and texts, never markup.

function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...content.filter((each) => each !== null && each !== undefined));
  return element;
}

function place(element, box) {
  element.style.left = `${box.x}px`;
  element.style.top = `${box.y}px`;
  element.style.width = `${box.w}px`;
  element.style.height = `${box.h}px`;
}

function say(words) {
  document.getElementById("status").textContent = words;
}
