/** Writing and reading tables as comma separated text, as spreadsheets do. */

export function toCsv(rows) {
  return rows.map((row) => row.map(quote).join(",")).join("\n");
}

function quote(value) {
  const text = String(value ?? "");
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function fromCsv(text) {
  const rows = [[]];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') cell += text[++at];
      else quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === "," || letter === "\n") {
      rows.at(-1).push(cell);
      cell = "";
      if (letter === "\n") rows.push([]);
    } else cell += letter;
  }
  rows.at(-1).push(cell);
  return rows;
}
