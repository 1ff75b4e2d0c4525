import { sameTask } from "./tasks.js";

/** Columns with an order of tasks, and a limit of work in progress. */
export class Board {
  constructor(columns) {
    this.columns = new Map(columns.map(({ name, limit }) => [name, { limit: limit ?? Infinity, tasks: [] }]));
  }

  column(name) {
    const column = this.columns.get(name);
    if (!column) throw new RangeError(`no column ${name}`);
    return column;
  }

  add(name, task) {
    const column = this.column(name);
    if (column.tasks.length >= column.limit) throw new Error(`${name} is full`);
    column.tasks.push(task);
  }

  columnOf(task) {
    for (const [name, column] of this.columns) {
      if (column.tasks.some((each) => sameTask(each, task))) return name;
    }
    return null;
  }

  /** Puts a task at a place of a column; within its own column, the limit does not matter. */
  move(task, target, place = Infinity) {
    const source = this.columnOf(task);
    if (source === null) throw new Error(`${task.title} is not on the board`);
    const column = this.column(target);
    if (source !== target && column.tasks.length >= column.limit) throw new Error(`${target} is full`);
    const from = this.column(source).tasks;
    from.splice(from.findIndex((each) => sameTask(each, task)), 1);
    column.tasks.splice(Math.min(place, column.tasks.length), 0, task);
  }

  count() {
    let total = 0;
    for (const column of this.columns.values()) total += column.tasks.length;
    return total;
  }
}
