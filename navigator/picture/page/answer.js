// The answer as a map: its folders and files, each file a strip of its lines with what is shown of it at its place.

const STRIP_HEAD = 17;
const LABEL = 13;
const LEAST_BAR = 3;
// Letters of a bold name are wider.
const BOLD = 0.85;

class AnswerMap {
  constructor(state, acts) {
    this.state = state;
    this.acts = acts;
    this.bars = new Map();
    this.element = make("div", {
      class: "answer-map",
      // What it shows is in the list beside it, which the keyboard walks.
      role: "img",
      "aria-label": "The files of the answer, each with its lines from top to bottom; the list has the same in words",
      click: (event) => this.onClick(event),
      mouseover: (event) => this.onPoint(event),
      mouseleave: () => this.link(this.state.place),
    });
  }

  draw(width) {
    const { files } = this.state.picture;
    const longest = Math.max(...files.map((file) => file.length), 1);
    const height = Math.round(Math.min(Math.max(width * 0.62, 260), 520, Math.max(LINE * longest + 60, 180)));
    this.element.style.height = `${height}px`;
    this.element.replaceChildren();
    this.bars.clear();
    for (const box of layout(treeOf(files, this.state.picture.data.repository), (node) => node.weight, width, height)) {
      if (box.depth) this.element.append(box.node.file ? this.file(box) : this.folder(box));
    }
    // Cloned, as a parser alone makes such elements without naming their namespace.
    this.lines = document.getElementById("relations").content.firstElementChild.cloneNode(true);
    this.pair = [...this.lines.children];
    this.element.append(this.lines);
    this.choose(this.state.place);
  }

  folder(box) {
    const element = make("div", { class: "answer-folder", title: box.node.path });
    if (box.isOpen && box.w > 30) element.append(make("span", { class: "name" }, fitted(box.node.path, box.w - 6)));
    place(element, box);
    return element;
  }

  file(box) {
    const { file } = box.node;
    const element = make("div", { class: file.findings.length ? "strip risky" : "strip", title: file.path, "data-file": String(this.state.picture.files.indexOf(file)) });
    place(element, box);
    const hasName = box.h >= STRIP_HEAD + 8 && box.w >= 24;
    const head = hasName ? STRIP_HEAD : 0;
    if (hasName) element.append(make("span", { class: "strip-name" }, fitted(baseOf(file.path), (box.w - 8) * BOLD)));
    const room = Math.max(box.h - head - 4, 4);
    const y = (line) => head + ((line - 1) / Math.max(file.length, 1)) * room;
    const spread = (kind, [first, last]) => {
      const bar = make("span", { class: kind });
      bar.style.top = `${y(first)}px`;
      bar.style.height = `${kind === "fault" ? LEAST_BAR : Math.max(y(last + 1) - y(first), LEAST_BAR)}px`;
      element.append(bar);
      return bar;
    };
    for (const lines of file.shown) spread("shown-lines", lines);
    for (const place of file.places) {
      if (!place.name) continue;
      const bar = spread(`bar${place.tokens ? "" : " whole"}${place.sure ? " sure" : ""}`, place.lines);
      bar.dataset.place = String(place.at);
      bar.title = `${place.head}, ${linesOf(place.lines)}`;
      this.bars.set(place, bar);
    }
    if (box.w >= 60) element.append(...labelsOf(file, y, box));
    for (const lines of file.changed) spread("changed", lines);
    for (const each of file.findings) spread("fault", [each.line, each.line]);
    return element;
  }

  placeOf(event) {
    const bar = event.target.closest("[data-place]");
    return bar ? this.state.picture.places[Number(bar.dataset.place)] : null;
  }

  onClick(event) {
    const place = this.placeOf(event);
    if (place) return this.acts.choosePlace(place);
    const strip = event.target.closest("[data-file]");
    return strip ? this.acts.chooseFile(this.state.picture.files[Number(strip.dataset.file)]) : null;
  }

  onPoint(event) {
    const place = this.placeOf(event);
    if (place) this.link(place);
  }

  choose(place) {
    for (const [each, bar] of this.bars) bar.classList.toggle("chosen", each === place);
    for (const strip of this.element.querySelectorAll(".strip")) strip.classList.toggle("chosen", this.state.picture.files[Number(strip.dataset.file)] === this.state.file);
    this.link(place);
  }

  /** Draw a line to each part that a part is related to. */
  link(place) {
    if (!this.lines) return;
    this.lines.replaceChildren();
    if (!place || !this.bars.has(place)) return;
    const from = this.middleOf(place);
    for (const other of new Set(place.links.map((link) => link.place))) {
      if (!this.bars.has(other)) continue;
      const to = this.middleOf(other);
      const [path, end] = this.pair.map((each) => each.cloneNode(true));
      // Within a file the line leaves the edge that its bars stand at.
      const isNear = Math.abs(to.x - from.x) < 4;
      const bend = isNear ? Math.min(Math.abs(to.y - from.y) / 3 + 14, 90) : Math.min(Math.abs(to.x - from.x), Math.abs(to.y - from.y)) / 2 + 18;
      path.setAttribute("d", `M${from.x} ${from.y} Q${(from.x + to.x) / 2 + (isNear ? -bend : bend)} ${(from.y + to.y) / 2 - (isNear ? 0 : bend)} ${to.x} ${to.y}`);
      end.setAttribute("cx", String(to.x));
      end.setAttribute("cy", String(to.y));
      this.lines.append(path, end);
    }
  }

  middleOf(place) {
    const bar = this.bars.get(place);
    const strip = bar.parentElement;
    return {
      x: strip.offsetLeft + strip.offsetWidth - 8,
      y: strip.offsetTop + bar.offsetTop + bar.offsetHeight / 2,
    };
  }
}

/** Return the names that have room where their lines are, the surest and the shown first. */
function labelsOf(file, y, box) {
  const named = file.places.filter((place) => place.name);
  const rank = (place) => (place.sure ? 0 : place.tokens ? 2 : 1);
  const short = (place) => place.name.slice(place.name.lastIndexOf(".") + 1);
  const taken = [];
  const found = [];
  for (const place of [...named].sort((a, b) => rank(a) - rank(b) || a.lines[0] - b.lines[0])) {
    const top = Math.min(y(place.lines[0]), box.h - LABEL - 3);
    if (top < y(1) - 1 || taken.some((each) => Math.abs(each - top) < LABEL)) continue;
    taken.push(top);
    const isShared = named.some((each) => each !== place && short(each) === short(place));
    const label = make("span", { class: "bar-name", "data-place": String(place.at) }, fitted(isShared ? place.name : short(place), box.w - 18));
    label.style.top = `${top}px`;
    found.push(label);
  }
  return found;
}

/** Return the folders and files of the answer as a tree: the more of a file is named and shown, the larger it is. */
function treeOf(files, repository) {
  const root = { at: 0, path: "", weight: 0, file: null, children: [] };
  const folders = new Map();
  files.forEach((file, at) => {
    const path = folderIn(file.path);
    if (!folders.has(path)) {
      const folder = { at: folders.size, path: path || repository, weight: 0, file: null, children: [] };
      folders.set(path, folder);
      root.children.push(folder);
    }
    const listed = file.places.reduce((sum, place) => sum + (place.sure ? 3 : 1), 0);
    const node = { at, path: file.path, weight: 2 + listed + file.tokens / 100 + 4 / (at + 1) + file.findings.length, file, children: [] };
    folders.get(path).children.push(node);
    folders.get(path).weight += node.weight;
    root.weight += node.weight;
  });
  return root;
}

/** Return the end of a name that fits, as its end tells most of a path and its beginning of a name. */
function fitted(text, width) {
  const letters = Math.floor(width / LETTER);
  if (text.length <= letters) return text;
  if (text.includes("/")) return letters > 3 ? `…${text.slice(-(letters - 1))}` : "";
  return letters > 3 ? `${text.slice(0, letters - 1)}…` : "";
}
