// The picture's data as the page uses it. Every text in it is somebody else's: it is shown, never read as markup.

const FOLDER = 0;
const FILE = 1;
const CLOSED = 2;
const REST = 3;
const LEVELS = ["not shown", "path only", "outline", "signatures", "source"];
const BY = { embedded: "the embedded planner" };
const ACTIONS = {
  open: "opened the repository",
  update_flight_plan: "changed the plan",
  finalize_context: "finished",
};

function readPicture(data) {
  if (!data || data.v !== 2 || !data.tree) throw new Error("its data are of another version");
  const tree = data.tree;
  const nodes = tree.names.map((name, at) => ({
    at,
    name,
    kind: tree.kinds[at],
    tokens: tree.tokens[at],
    area: tree.areas[at],
    files: tree.files[at],
    level: tree.levels[at],
    parent: null,
    children: [],
    path: "",
    file: null,
  }));
  const byPath = new Map();
  nodes.forEach((node, at) => {
    if (tree.parents[at] >= 0) {
      node.parent = nodes[tree.parents[at]];
      node.parent.children.push(node);
      node.path = [node.parent.path, node.name].filter(Boolean).join("/");
    }
    if (node.kind !== REST) byPath.set(node.path, node);
  });
  const files = data.files.map((file) => ({
    ...file,
    places: [],
    changed: data.changed.filter((each) => data.files[each[0]] === file).map((each) => each.slice(1)),
    findings: data.findings.filter((each) => data.files[each.file] === file),
    node: byPath.get(file.path) || null,
    source: new Map(),
  }));
  const places = data.places.map((place, at) => ({ ...place, at, file: files[place.file], links: [] }));
  for (const place of places) place.file.places.push(place);
  for (const file of files) file.places.sort((a, b) => a.lines[0] - b.lines[0] || a.at - b.at);
  for (const [source, target, words, line] of data.links) {
    places[source].links.push({ place: places[target], words, line });
    places[target].links.push({ place: places[source], words: PASSIVE[words] || words, line });
  }
  const byFile = new Map(files.map((file) => [file.path, file]));
  for (const chunk of data.source) {
    const file = byFile.get(chunk.path);
    if (file) chunk.text.split("\n").forEach((line, at) => file.source.set(chunk.first + at, line));
  }
  for (const file of files) if (file.node && file.node.kind === FILE) file.node.file = file;
  return { data, nodes, byPath, files, places, root: nodes[0] };
}

const PASSIVE = { calls: "called by", overrides: "overridden by", extends: "extended by" };

/** Whether lines of a file stand in the context. */
function isShown(file, lines) {
  return file.shown.some(([first, last]) => first <= lines[0] && lines[1] <= last);
}

/** Return how many lines of a place stand in the context. */
function linesShown(place) {
  const [from, to] = place.lines;
  return place.file.shown.reduce((sum, [first, last]) => sum + Math.max(Math.min(last, to) - Math.max(first, from) + 1, 0), 0);
}

/** Whether some lines of a place stand in the context, and some do not. */
function isInPart(place) {
  return place.tokens > 0 && place.name !== "" && linesShown(place) > 0;
}

/** Whether something below a folder is folded: more of it is known than the picture holds. */
function isFolded(node) {
  if (node.kind === CLOSED || node.kind === REST) return true;
  return node.children.some(isFolded);
}

/** Say what a page that can ask nobody has of a folded node: no more than it shows. */
function foldedOf(node) {
  return `${node.kind === REST ? "These files are" : "This folder is"} folded: a saved page holds no more of ${node.kind === REST ? "them" : "it"}; the map in a host opens it.`;
}

/** Return the folder that a node opens: a rest opens the folder that it is in. */
function folderOf(node) {
  return node.kind === REST ? node.parent : node;
}

/** Yield a node and all that is below it. */
function* withAllBelow(node) {
  yield node;
  for (const child of node.children) yield* withAllBelow(child);
}

/** Whether the answer names something of a node that the context does not show. */
function isListed(node) {
  return node.file !== null && node.file.places.some((place) => place.tokens > 0);
}

function titleOf(node) {
  if (node.kind === REST) return `${count(node.files, "smaller file")} in ${node.parent.path || "the repository"}`;
  return node.path || "The whole repository";
}

function labelOf(node) {
  const parts = [titleOf(node)];
  if (node.kind === FILE) parts.push(LEVELS[node.level]);
  else {
    if (node.kind !== REST) parts.push(count(node.files, "file"));
    parts.push(node.level ? `at most ${LEVELS[node.level]}` : LEVELS[0]);
  }
  parts.push(count(node.tokens, "token"));
  if (node.kind === FILE && isListed(node)) parts.push("listed");
  return parts.join(", ");
}

/** Return the name of a place as a list has it: what it shares with the one above is left out. */
function briefOf(place, above) {
  const owner = place.name.slice(0, place.name.lastIndexOf(".") + 1);
  return owner && above && above.name.startsWith(owner) ? place.name.slice(owner.length - 1) : nameOf(place);
}

function nameOf(place) {
  return place.name || "the whole file";
}

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

function dollars(value) {
  if (value > 0 && value < 0.01) return `$${value.toFixed(4)}`;
  return `$${value.toFixed(2)}`;
}

function spanOf(pair) {
  return pair[0] === pair[1] ? String(pair[0]) : `${pair[0]}–${pair[1]}`;
}

function linesOf(pair) {
  return `${pair[0] === pair[1] ? "line" : "lines"} ${spanOf(pair)}`;
}

function baseOf(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

function folderIn(path) {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

/** Return a pattern that names this path and nothing else. */
function escapeGlob(path) {
  return path.replace(/[*?[{]/g, (special) => `[${special}]`);
}
