// The map as a tree: one stop for Tab, arrows to go from node to node, Enter to choose.

const LETTER = 6.2;
const LINE = 14;
const FEWEST_LETTERS = 7;
const FEWEST_LETTERS_OF_FOLDERS = 5;
// Where a name may go on in the next line.
const PIECES = /(?<=[_ -])|(?=\.)/;

class MapWidget {
  constructor(state, onChoose, onZoom) {
    this.state = state;
    this.onChoose = onChoose;
    this.onZoom = onZoom;
    this.items = new Map();
    // What is in a folder covers it: its frame has to lie above that.
    this.marker = make("div", { "aria-hidden": "true" });
    this.element = make("div", {
      class: "map",
      role: "tree",
      "aria-label": `Files of ${state.picture.data.repository || "the repository"} by size`,
      keydown: (event) => this.onKey(event),
      click: (event) => this.onClick(event, false),
      dblclick: (event) => this.onClick(event, true),
    });
  }

  draw(width) {
    const { root, sizeOf, isWanted } = this.state;
    const height = Math.round(Math.min(Math.max(width * 0.36, 260), 460));
    this.element.style.height = `${height}px`;
    this.element.replaceChildren();
    this.items.clear();
    this.order = [];
    const beside = new Map();
    for (const box of layout(root, sizeOf, width, height - 2)) {
      const { node } = box;
      if (node !== root && (box.w < 1 || box.h < 1)) continue;
      const item = this.item(box, isWanted(node));
      place(item, box);
      this.element.append(item);
      this.items.set(node, item);
      this.order.push(node);
      if (!beside.has(node.parent)) beside.set(node.parent, []);
      beside.get(node.parent).push(item);
    }
    // The items lie side by side: what is in what is told by numbers.
    for (const items of beside.values()) {
      items.forEach((item, at) => {
        item.setAttribute("aria-posinset", String(at + 1));
        item.setAttribute("aria-setsize", String(items.length));
      });
    }
    if (!this.items.has(this.state.chosen)) this.state.chosen = root;
    for (const [node, item] of this.items) {
      item.tabIndex = node === this.state.chosen ? 0 : -1;
      item.setAttribute("aria-selected", String(node === this.state.chosen));
    }
    this.element.append(this.marker);
    this.mark();
  }

  mark() {
    const { left, top, width, height } = this.items.get(this.state.chosen).style;
    Object.assign(this.marker.style, { left, top, width, height });
    this.marker.className = this.state.chosen === this.state.root ? "marker whole" : "marker";
  }

  item(box, isWanted) {
    const { node, isOpen } = box;
    const kinds = ["node", isOpen ? "folder" : "leaf"];
    const share = !isOpen && node.kind === FILE && node.file && node.level > 1 ? Math.min(node.file.tokens / Math.max(node.tokens, 1), 1) : 1;
    if (!isOpen) kinds.push(share < 1 ? "level0 share" : `level${node.level}`);
    if (node.kind !== FILE && !isOpen) kinds.push("many");
    if (isListed(node) && !isOpen) kinds.push("listed");
    if (!isWanted) kinds.push("dim");
    const item = make("div", {
      class: kinds.join(" "),
      role: "treeitem",
      "aria-label": labelOf(node),
      "aria-level": String(box.depth + 1),
      "aria-expanded": isOpen ? "true" : null,
      title: labelOf(node),
      "data-at": String(node.at),
    });
    if (share < 1) item.style.setProperty("--share", `${Math.max(Math.round(share * 100), 6)}%`);
    if (node !== this.state.root) item.append(...this.name(box));
    return item;
  }

  /** Return the name in a box, nothing where so few letters would tell nobody anything. */
  name(box) {
    const { node, isOpen } = box;
    const name = node.kind === REST ? `${node.files.toLocaleString("en")} smaller` : node.name;
    const letters = Math.floor((box.w - 6) / LETTER);
    const pieces = name.split(PIECES);
    const isWrapped = !isOpen && pieces.every((piece) => piece.length <= letters);
    const fewest = isOpen ? FEWEST_LETTERS_OF_FOLDERS : FEWEST_LETTERS;
    const words = isWrapped || letters >= Math.min(fewest, name.length) ? name : "";
    if (!words || box.w < 9 || box.h < LINE - 1) return [];
    const told = make("span", { class: isWrapped ? "name wrapped" : "name" },
      ...(isWrapped ? pieces.flatMap((piece, at) => (at ? [make("wbr"), piece] : [piece])) : [words]));
    told.style.setProperty("--lines", String(Math.max(Math.floor((box.h - 2) / LINE), 1)));
    return [told];
  }

  opens(node) {
    return node.kind !== FILE && node !== this.state.root;
  }

  nodeOf(event) {
    const item = event.target.closest("[data-at]");
    return item ? this.state.picture.nodes[Number(item.dataset.at)] : null;
  }

  onClick(event, isTwice) {
    const node = this.nodeOf(event);
    if (!node) return;
    if (isTwice && this.opens(node)) this.onZoom(node);
    else this.choose(node, true);
  }

  /** Choose a node; `isQuiet` where whoever chose it knows. */
  choose(node, takesFocus, isQuiet = false) {
    const before = this.items.get(this.state.chosen);
    const item = this.items.get(node);
    if (!item) return;
    if (before) {
      before.tabIndex = -1;
      before.setAttribute("aria-selected", "false");
    }
    this.state.chosen = node;
    item.tabIndex = 0;
    item.setAttribute("aria-selected", "true");
    this.mark();
    if (takesFocus) item.focus({ preventScroll: true });
    if (!isQuiet) this.onChoose(node);
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const node = this.state.chosen;
    const goal = this.next(event.key, node);
    if (goal) {
      this.choose(goal, true);
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.opens(node)) this.onZoom(node);
      else this.choose(node, true);
    } else if ((event.key === "Escape" || event.key === "Backspace") && this.state.root.parent) {
      this.onZoom(this.state.root.parent);
    } else if (!["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) {
      return;
    }
    event.preventDefault();
  }

  next(key, node) {
    const drawn = this.order.filter((each) => this.state.isWanted(each) || each === node);
    const at = drawn.indexOf(node);
    if (key === "ArrowDown") return drawn[at + 1];
    if (key === "ArrowUp") return drawn[at - 1];
    if (key === "ArrowRight") return drawn[at + 1] && drawn[at + 1].parent === node ? drawn[at + 1] : null;
    if (key === "ArrowLeft") return node === this.state.root ? null : node.parent;
    if (key === "Home") return drawn[0];
    if (key === "End") return drawn[drawn.length - 1];
    return null;
  }
}
