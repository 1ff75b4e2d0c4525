/** Days as `YYYY-MM-DD` text, without clocks and zones. */

const DAY_MS = 24 * 60 * 60 * 1000;

export function toDay(date) {
  return date.toISOString().slice(0, 10);
}

export function parseDay(day) {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) throw new RangeError(`not a day: ${day}`);
  return date;
}

/** The day that many days later. */
export function addDays(day, days) {
  return toDay(new Date(parseDay(day).getTime() + days * DAY_MS));
}

/** The day that many months later; the 31st becomes the last day of a shorter month. */
export function addMonths(day, months) {
  const date = parseDay(day);
  const wanted = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  date.setUTCDate(Math.min(wanted, daysInMonth(date.getUTCFullYear(), date.getUTCMonth())));
  return toDay(date);
}

export function daysInMonth(year, month) {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
}

export function daysBetween(first, second) {
  return Math.round((parseDay(second) - parseDay(first)) / DAY_MS);
}

/** Monday is 1, Sunday is 7. */
export function weekday(day) {
  return parseDay(day).getUTCDay() || 7;
}
