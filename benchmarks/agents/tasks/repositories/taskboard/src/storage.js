/** Boards as JSON text, with a version so that old files can still be read. */

export const VERSION = 3;

const UPGRADES = {
  1: (data) => ({ ...data, version: 2, tasks: data.tasks.map((task) => ({ ...task, labels: task.labels ?? [] })) }),
  2: (data) => ({ ...data, version: 3, tasks: data.tasks.map(({ minutes, ...task }) => ({ ...task, estimate: minutes ?? 0 })) }),
};

export function save(tasks) {
  return JSON.stringify({ version: VERSION, tasks });
}

export function load(text) {
  let data = JSON.parse(text);
  while (data.version < VERSION) data = UPGRADES[data.version](data);
  if (data.version > VERSION) throw new Error("this file was written by a newer taskboard");
  return data.tasks;
}
