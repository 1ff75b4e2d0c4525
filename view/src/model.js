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
  if (!data || data.v !== 1 || !data.tree) throw new Error("its data are of another version");
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
    places: [],
    deeper: null,
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
  for (const file of data.shown) attach(byPath, file.path, (node) => { node.file = file; });
  for (const place of data.menu) attach(byPath, place.path, (node) => { node.places.push(place); });
  for (const each of data.deeper) attach(byPath, each.path, (node) => { node.deeper = each; });
  return { data, nodes, byPath, root: nodes[0] };
}

function attach(byPath, path, change) {
  const node = byPath.get(path);
  if (node && node.kind === FILE) change(node);
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

function isOffered(node) {
  return node.places.length > 0 || node.deeper !== null;
}

function titleOf(node) {
  if (node.kind === REST) return `${count(node.files, "smaller file")} in ${node.parent.path || "the repository"}`;
  return node.path || "The whole repository";
}

function labelOf(node) {
  const parts = [titleOf(node)];
  if (node.kind === FILE) parts.push(`level ${node.level}, ${LEVELS[node.level]}`);
  else {
    if (node.kind !== REST) parts.push(count(node.files, "file"));
    parts.push(node.level ? `up to level ${node.level}, ${LEVELS[node.level]}` : LEVELS[0]);
  }
  parts.push(count(node.tokens, "token"));
  if (isOffered(node)) parts.push("a next step could show it");
  return parts.join(", ");
}

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

function dollars(value) {
  if (value > 0 && value < 0.01) return `$${value.toFixed(4)}`;
  return `$${value.toFixed(2)}`;
}

function moreOf(file) {
  return file.lines_more ? ` and ${file.lines_more.toLocaleString("en")} more` : "";
}

function spanOf(pair) {
  return pair[0] === pair[1] ? String(pair[0]) : `${pair[0]}–${pair[1]}`;
}

function linesOf(pair) {
  return `${pair[0] === pair[1] ? "line" : "lines"} ${spanOf(pair)}`;
}

/** Return a pattern that names this path and nothing else. */
function escapeGlob(path) {
  return path.replace(/[*?[{]/g, (special) => `[${special}]`);
}
