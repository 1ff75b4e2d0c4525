import { daysBetween } from "./dates.js";

/** Figures of a board: how long work takes, how much is left. */

export function median(values) {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Days from start to end of finished work. */
export function cycleTimes(log) {
  return log.filter((entry) => entry.ended).map((entry) => daysBetween(entry.started, entry.ended));
}

/** Minutes left on each day, for a burn-down chart. */
export function burndown(total, doneByDay, days) {
  let left = total;
  return days.map((day) => (left -= doneByDay[day] ?? 0));
}

export function workload(tasks) {
  const minutes = {};
  for (const task of tasks) {
    if (task.done || !task.assignee) continue;
    minutes[task.assignee] = (minutes[task.assignee] ?? 0) + task.estimate;
  }
  return minutes;
}
