/** A list of tasks as Markdown, and back. */

export function toMarkdown(tasks) {
  return tasks.map((task) => `- [${task.done ? "x" : " "}] ${escape(task.title)}${suffix(task)}`).join("\n");
}

function suffix(task) {
  const labels = task.labels.map((label) => ` #${label}`).join("");
  return labels + (task.due ? ` (${task.due})` : "");
}

function escape(text) {
  return text.replace(/([*_`[\]])/g, "\\$1");
}

export function fromMarkdown(text) {
  const tasks = [];
  for (const line of text.split("\n")) {
    const found = /^\s*[-*] \[([ xX])\] (.*)$/.exec(line);
    if (found) tasks.push({ title: found[2].replace(/\\([*_`[\]])/g, "$1"), done: found[1] !== " " });
  }
  return tasks;
}
