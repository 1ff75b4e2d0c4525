import assert from "node:assert/strict";
import { test } from "node:test";

import { Board } from "../src/board.js";
import { createTask } from "../src/tasks.js";

test("a full column takes no more tasks", () => {
  const board = new Board([{ name: "doing", limit: 1 }]);
  board.add("doing", createTask("one"));
  assert.throws(() => board.add("doing", createTask("two")), /full/);
});

test("a task moves to its place", () => {
  const board = new Board([{ name: "todo" }, { name: "done" }]);
  const [first, second] = [createTask("one"), createTask("two")];
  board.add("todo", first);
  board.add("done", second);
  board.move(first, "done", 0);
  assert.deepEqual(board.column("done").tasks.map((task) => task.title), ["one", "two"]);
});
