/** Orders of tasks. */

const BY = {
  due: (a, b) => compare(a.due ?? "9999-12-31", b.due ?? "9999-12-31"),
  title: (a, b) => a.title.localeCompare(b.title, "en"),
  estimate: (a, b) => a.estimate - b.estimate,
};

function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorts by several keys, the first one first; a minus turns one round. */
export function sortTasks(tasks, keys) {
  const orders = keys.map((key) => {
    const order = BY[key.replace(/^-/, "")];
    if (!order) throw new RangeError(`can't sort by ${key}`);
    return key.startsWith("-") ? (a, b) => -order(a, b) : order;
  });
  return [...tasks].sort((a, b) => {
    for (const order of orders) {
      const result = order(a, b);
      if (result !== 0) return result;
    }
    return 0;
  });
}
