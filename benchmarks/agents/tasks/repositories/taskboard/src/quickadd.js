import { addDays, weekday } from "./dates.js";

/** Quick entry: `Water plants #home @ann ~30m tomorrow` becomes the fields of a task. */

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

export function parseEntry(text, today) {
  const fields = { labels: [], assignee: null, estimate: 0, due: null };
  const words = [];
  for (const word of text.trim().split(/\s+/)) {
    const due = parseDue(word, today);
    if (word.startsWith("#") && word.length > 1) fields.labels.push(word.slice(1).toLowerCase());
    else if (word.startsWith("@") && word.length > 1) fields.assignee = word.slice(1);
    else if (/^~\d+(m|h)$/.test(word)) fields.estimate = parseEstimate(word);
    else if (due) fields.due = due;
    else words.push(word);
  }
  return { title: words.join(" "), ...fields };
}

/** Minutes: `~30m` or `~2h`. */
export function parseEstimate(word) {
  const amount = Number.parseInt(word.slice(1), 10);
  return word.endsWith("h") ? amount * 60 : amount;
}

/** `today`, `tomorrow`, a weekday's name (the next one, never today), or a day itself. */
export function parseDue(word, today) {
  const lower = word.toLowerCase();
  if (lower === "today") return today;
  if (lower === "tomorrow") return addDays(today, 1);
  if (/^\d{4}-\d{2}-\d{2}$/.test(lower)) return lower;
  const wanted = WEEKDAYS.indexOf(lower) + 1;
  if (wanted === 0) return null;
  return addDays(today, (wanted - weekday(today) + 7) % 7 || 7);
}
