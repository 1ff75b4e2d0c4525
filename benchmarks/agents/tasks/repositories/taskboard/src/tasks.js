/** Tasks are plain frozen objects; every change makes a new one. */

let lastId = 0;

export function createTask(title, fields = {}) {
  const trimmed = title.trim();
  if (!trimmed) throw new TypeError("a task needs a title");
  return Object.freeze({
    id: fields.id ?? `t${++lastId}`,
    title: trimmed,
    due: fields.due ?? null,
    labels: Object.freeze([...(fields.labels ?? [])]),
    assignee: fields.assignee ?? null,
    estimate: fields.estimate ?? 0,
    done: fields.done ?? false,
  });
}

export function change(task, fields) {
  return Object.freeze({ ...task, ...fields });
}

export function isOverdue(task, today) {
  return !task.done && task.due !== null && task.due < today;
}

export function sameTask(a, b) {
  return a.id === b.id;
}
