import { isOverdue } from "./tasks.js";

/** Filters are functions of a task; they are put together from words such as `label:home is:overdue -milk`. */

export function compile(query, today) {
  const tests = query.split(/\s+/).filter(Boolean).map((word) => test(word, today));
  return (task) => tests.every((each) => each(task));
}

function test(word, today) {
  if (word.startsWith("-") && word.length > 1) {
    const inner = test(word.slice(1), today);
    return (task) => !inner(task);
  }
  const [key, value] = word.split(":", 2);
  if (value === undefined) return (task) => task.title.toLowerCase().includes(key.toLowerCase());
  if (key === "label") return (task) => task.labels.includes(value);
  if (key === "for") return (task) => task.assignee === value;
  if (key === "is" && value === "overdue") return (task) => isOverdue(task, today);
  if (key === "is" && value === "done") return (task) => task.done;
  throw new SyntaxError(`unknown filter ${word}`);
}
