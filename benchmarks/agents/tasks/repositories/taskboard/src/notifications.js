import { daysBetween } from "./dates.js";

/** Who is told what, and when. */

export const LEAD_DAYS = 2;

export function remindersFor(tasks, today) {
  return tasks
    .filter((task) => !task.done && task.due && task.assignee)
    .map((task) => ({ to: task.assignee, title: task.title, inDays: daysBetween(today, task.due) }))
    .filter((reminder) => reminder.inDays <= LEAD_DAYS);
}

export function wording({ title, inDays }) {
  if (inDays < 0) return `${title} is ${-inDays} ${inDays === -1 ? "day" : "days"} late`;
  if (inDays === 0) return `${title} is due today`;
  return `${title} is due in ${inDays} ${inDays === 1 ? "day" : "days"}`;
}

/** One message a person, in the order of names. */
export function digest(reminders) {
  const byPerson = Map.groupBy ? Map.groupBy(reminders, (each) => each.to) : group(reminders);
  return [...byPerson].sort(([a], [b]) => (a < b ? -1 : 1)).map(([to, list]) => ({ to, lines: list.map(wording) }));
}

function group(reminders) {
  const byPerson = new Map();
  for (const each of reminders) byPerson.set(each.to, [...(byPerson.get(each.to) ?? []), each]);
  return byPerson;
}
