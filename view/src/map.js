// The map as a tree: one stop for Tab, arrows to go from node to node, Enter to choose.

const LEAST_NAME = 26;

class MapWidget {
  constructor(state, onChoose, onZoom) {
    this.state = state;
    this.onChoose = onChoose;
    this.onZoom = onZoom;
    this.items = new Map();
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
    const height = Math.round(Math.min(Math.max(width * 0.6, 280), 620));
    this.element.style.height = `${height}px`;
    this.element.replaceChildren();
    this.items.clear();
    this.order = [];
    const groups = new Map();
    for (const box of layout(root, sizeOf, width - 2, height - 2)) {
      if (box.node !== root && (box.w < 1 || box.h < 1)) continue;
      const above = groups.get(box.node.parent);
      const item = this.item(box, isWanted(box.node));
      place(item, above ? { ...box, x: box.x - above.x, y: box.y - above.y } : box);
      (above ? above.element : this.element).append(item);
      this.items.set(box.node, item);
      this.order.push(box.node);
      if (box.node.children.length) {
        const group = make("div", { role: "group" });
        item.append(group);
        groups.set(box.node, { x: box.x, y: box.y, element: group });
      }
    }
    if (!this.items.has(this.state.chosen)) this.state.chosen = root;
    for (const [node, item] of this.items) {
      const group = item.querySelector(":scope > [role=group]");
      if (group && group.childElementCount) item.setAttribute("aria-expanded", "true");
      else if (group) group.remove();
      item.tabIndex = node === this.state.chosen ? 0 : -1;
      item.setAttribute("aria-selected", String(node === this.state.chosen));
    }
  }

  item(box, isWanted) {
    const { node } = box;
    const isOpen = node.children.length > 0;
    const kinds = ["node", isOpen ? "folder" : "leaf"];
    if (!isOpen) kinds.push(`level${node.level}`);
    if (node.kind === CLOSED || node.kind === REST) kinds.push("many");
    if (isOffered(node) && !isOpen) kinds.push("offered");
    if (!isWanted) kinds.push("dim");
    const item = make("div", {
      class: kinds.join(" "),
      role: "treeitem",
      "aria-label": labelOf(node),
      "aria-level": String(box.depth + 1),
      title: labelOf(node),
      "data-at": String(node.at),
    });
    if (box.w >= LEAST_NAME && box.h >= 14) {
      const digit = !isOpen && node.level ? `${node.level} ` : "";
      const name = node.kind === REST ? `${node.files} more` : node.name || this.state.picture.data.repository;
      item.append(make("span", { class: "name", "aria-hidden": "true" }, node === this.state.root && isOpen ? "" : digit + name));
    } else if (!isOpen && node.level && box.w >= 9 && box.h >= 13) {
      item.append(make("span", { class: "name", "aria-hidden": "true" }, String(node.level)));
    }
    return item;
  }

  nodeOf(event) {
    const item = event.target.closest("[data-at]");
    return item ? this.state.picture.nodes[Number(item.dataset.at)] : null;
  }

  onClick(event, isTwice) {
    const node = this.nodeOf(event);
    if (!node) return;
    if (isTwice && node.children.length && node !== this.state.root) this.onZoom(node);
    else this.choose(node, true);
  }

  choose(node, takesFocus) {
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
    if (takesFocus) item.focus({ preventScroll: true });
    this.onChoose(node);
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const node = this.state.chosen;
    const goal = this.next(event.key, node);
    if (goal) {
      this.choose(goal, true);
    } else if (event.key === "Enter" || event.key === " ") {
      if (node.children.length && node !== this.state.root) this.onZoom(node);
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
