import { addDays, addMonths, weekday } from "./dates.js";

/** Repeating tasks: `every` is a number of `unit`s, or `unit` is `workday`. */

export function nextDue(day, rule) {
  switch (rule.unit) {
    case "day":
      return addDays(day, rule.every);
    case "week":
      return addDays(day, rule.every * 7);
    case "month":
      return addMonths(day, rule.every);
    case "workday":
      return nextWorkday(day);
    default:
      throw new RangeError(`unknown unit: ${rule.unit}`);
  }
}

export function nextWorkday(day) {
  let next = addDays(day, 1);
  while (weekday(next) > 5) next = addDays(next, 1);
  return next;
}

/** All days on which a task is due, from its first day up to and with the last. */
export function occurrences(first, rule, last) {
  const days = [];
  for (let day = first; day <= last; day = nextDue(day, rule)) days.push(day);
  return days;
}

export function describe(rule) {
  if (rule.unit === "workday") return "every workday";
  return rule.every === 1 ? `every ${rule.unit}` : `every ${rule.every} ${rule.unit}s`;
}
