// Source as it is read: its lines with their numbers, and the kinds of words coloured.

const KEYWORDS = new Set((
  "abstract and as assert async await begin bool boolean break byte case catch char class const continue def default defer del do double elif else end enum " +
  "except export extends extern false final finally float fn for foreach from func function go goto if impl implements import in instanceof int interface is " +
  "lambda let long loop match mod module mut namespace new nil none None nonlocal not null of operator or override package pass private protected pub public " +
  "raise range readonly ref require rescue return self Self short signed sizeof static struct super switch template this throw throws trait true True False try " +
  "type typedef typeof union unless unsafe unsigned until use using val var virtual void volatile when where while with yield").split(" "));
const HASHED = /\.(py|pyi|rb|sh|bash|ya?ml|toml|cfg|ini|pl|r|jl|ex|exs|cmake|tcl|conf|mk)$|(^|\/)(Makefile|Dockerfile)[^/]*$/i;
const DASHED = /\.(sql|lua|hs|elm|ada|vhdl?)$/i;
const WORDS = "\"\"\"[^]*?(?:\"\"\"|$)|'''[^]*?(?:'''|$)|\"(?:[^\"\\\\\\n]|\\\\.)*\"?|'(?:[^'\\\\\\n]|\\\\.)*'?|`(?:[^`\\\\]|\\\\.)*`?|\\b\\d[\\w.]*|[A-Za-z_$][\\w$]*";
const C_COMMENTS = "/\\*[^]*?(?:\\*/|$)|//[^\\n]*";

/** Yield pieces of source with their kind: comment, string, number, keyword, or "" for the rest. */
function* piecesOf(text, path) {
  const comments = HASHED.test(path) ? "#[^\\n]*" : DASHED.test(path) ? "--[^\\n]*" : C_COMMENTS;
  const pattern = new RegExp(`(${comments})|${WORDS}`, "g");
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    const [word] = found;
    const kind = found[1] !== undefined ? "comment" : /^["'`]/.test(word) ? "string" : /^\d/.test(word) ? "number" : KEYWORDS.has(word) ? "keyword" : "";
    if (!kind) continue;
    if (found.index > at) yield ["", text.slice(at, found.index)];
    yield [kind, word];
    at = found.index + word.length;
  }
  if (at < text.length) yield ["", text.slice(at)];
}

/** Return the lines of a file between two, as a table of numbers and text; what the page does not hold is told. */
function codeOf(file, [first, last]) {
  const box = make("div", { class: "code", tabindex: "0", role: "region", "aria-label": `Source of ${file.path}` });
  let held = 0;
  let missing = 0;
  let at = first;
  while (at <= last) {
    const start = at;
    const lines = [];
    while (at <= last && file.source.has(at)) lines.push(file.source.get(at++));
    if (lines.length) {
      held += lines.length;
      box.append(...rowsOf(file, start, lines));
    } else {
      while (at <= last && !file.source.has(at)) at += 1;
      missing += at - start;
      box.append(make("div", { class: "gap" }, `${linesOf([start, at - 1])} are not in this page`));
    }
  }
  if (!held) return make("p", { class: "faint" }, `The page does not hold ${linesOf([first, last])}.`);
  return box;
}

function rowsOf(file, start, lines) {
  const rows = lines.map((_, at) => {
    const number = start + at;
    const kinds = ["row"];
    if (isShown(file, [number, number])) kinds.push("given");
    if (file.changed.some(([first, last]) => first <= number && number <= last)) kinds.push("edited");
    const faults = file.findings.filter((each) => each.line === number);
    if (faults.length) kinds.push("faulty");
    return make("div", { class: kinds.join(" ") }, make("span", { class: "number" }, String(number)), make("span", { class: "text" }));
  });
  let row = 0;
  for (const [kind, text] of piecesOf(lines.join("\n"), file.path)) {
    text.split("\n").forEach((part, at) => {
      if (at) row += 1;
      if (part) rows[row].lastChild.append(kind ? make("span", { class: kind }, part) : part);
    });
  }
  return rows;
}
