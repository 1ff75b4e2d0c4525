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

/** Return a sentence as nodes, with what stands between backticks as code. */
function prose(sentence) {
  const pieces = sentence.split("`");
  if (pieces.length % 2 === 0) return [sentence];
  return pieces.map((piece, at) => (at % 2 ? make("code", {}, piece) : piece)).filter(Boolean);
}

/** Return a path as nodes that lines may break between, rather than within a name. */
function breakable(path) {
  return path.split("/").flatMap((name, at) => (at ? ["/", make("wbr"), name] : [name]));
}

/** Return a name as nodes that lines may break between its words. */
function breakableName(name) {
  return name.split(/(?<=[_.])|(?<=[a-z0-9])(?=[A-Z])/).flatMap((part, at) => (at ? [make("wbr"), part] : [part]));
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
