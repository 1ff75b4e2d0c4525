// What stands around the map: totals, the chosen node, what is shown, what could be, and the steps so far.

const MOST_FOUND = 12;
const MOST_INSIDE = 8;
const MOST_PLACES = 12;

function headOf(data) {
  const facts = make("div", { class: "facts" });
  const share = data.token_budget ? Math.min(data.tokens / data.token_budget, 1) : 0;
  facts.append(
    make("span", {}, make("strong", {}, count(data.tokens, "token")), ` of ${data.token_budget.toLocaleString("en")} `,
      make("meter", { min: "0", max: "1", value: String(share), "aria-label": "Share of the token budget" })),
    make("span", {}, `${count(data.shown.length + data.shown_more, "file")} in detail`,
      data.paths_only ? `, ${data.paths_only.toLocaleString("en")} by path` : "",
      data.left_out ? `, ${data.left_out.toLocaleString("en")} without room` : "",
      data.excluded ? `, ${data.excluded.toLocaleString("en")} not chosen` : ""),
  );
  if (data.navigation_id) {
    facts.append(make("span", {}, `${dollars(data.spent_usd)} of ${dollars(data.limit_usd)} spent`), make("span", {}, `Status: ${data.status}`));
  }
  const head = make("header", {}, make("h1", {}, `Map of ${data.repository || "the repository"}`));
  if (data.goal) head.append(make("p", { class: "goal", tabindex: "0", role: "group", "aria-label": "Goal" }, data.goal));
  head.append(facts);
  if (data.sure) head.append(make("p", { id: "sure" }, data.sure));
  for (const sentence of data.impact) head.append(make("p", {}, sentence));
  return head;
}

function legendOf() {
  const samples = LEVELS.map((words, level) =>
    make("li", {}, make("span", { class: `level${level}` }, level ? String(level) : ""), words));
  samples.push(make("li", {}, make("span", { class: "offered", "aria-hidden": "true" }), "a next step could show it"));
  samples.push(make("li", {}, make("span", { class: "many", "aria-hidden": "true" }), "several files"));
  return make("ul", { class: "legend", "aria-label": "Legend" }, ...samples);
}

class Panels {
  constructor(state, acts) {
    this.state = state;
    this.acts = acts;
  }

  button(words, act, title) {
    return make("button", { type: "button", class: "act", title: title || null, disabled: this.state.isBusy(), click: act }, words);
  }

  link(node, ...words) {
    return make("button", { type: "button", class: "plain", click: () => this.acts.goTo(node) }, ...words);
  }

  pathOf(path) {
    const node = this.state.picture.byPath.get(path);
    return node ? this.link(node, ...breakable(path)) : make("code", {}, ...breakable(path));
  }

  details(node) {
    const box = make("section", { class: "panel", "aria-label": "The chosen part of the map", id: "chosen" });
    box.append(make("h2", {}, ...breakable(titleOf(node))), make("p", { class: "faint" }, this.facts(node)));
    const { file } = node;
    if (file) box.append(...this.shown(file));
    else if (node.deeper && node.deeper.why) box.append(make("p", {}, "Why it could be next: ", ...prose(node.deeper.why)));
    const cut = this.state.picture.data.cuts.find((each) => each.path === node.path);
    if (cut) box.append(make("p", {}, `The budget shows it as ${LEVELS[cut.drawn]} in place of ${LEVELS[cut.wanted]}: +${count(cut.tokens, "token")} would do.`));
    if (node.places.length) {
      box.append(make("h3", {}, "Not shown of it"), make("ul", { class: "places" }, ...node.places.map((place) => make("li", {}, ...this.place(place)))));
    }
    if (node.kind === FOLDER) box.append(this.inside(node));
    if (!this.state.canOpen && node.kind !== FILE && node.kind !== FOLDER) box.append(make("p", { class: "faint" }, foldedOf(node)));
    const actions = this.actions(node);
    if (actions.length) box.append(make("div", { class: "actions" }, ...actions));
    return box;
  }

  facts(node) {
    const size = `${count(node.tokens, "token")} of source`;
    if (node.kind === FILE && node.file) return `Level ${node.level}, ${LEVELS[node.level]}: ${node.file.tokens.toLocaleString("en")} of its ${count(node.tokens, "token")} are in the context.`;
    if (node.kind === FILE) return `Level ${node.level}, ${LEVELS[node.level]}; ${size}.`;
    return `${count(node.files, "file")}, ${size}; ${node.level ? `shown up to level ${node.level}, ${LEVELS[node.level]}` : "none is shown"}.`;
  }

  /** What is shown of a folder, as a short way to it. */
  inside(folder) {
    const within = [...withAllBelow(folder)];
    const files = within.filter((each) => each.file);
    const offered = within.filter((each) => isOffered(each) && !each.file);
    const listed = (words, nodes) => (nodes.length ? [
      make("h3", {}, words),
      make("ul", { class: "plain" }, ...nodes.slice(0, MOST_INSIDE).map((each) =>
        make("li", {}, make("span", { class: each.level ? `digit level${each.level}` : null }, each.level ? String(each.level) : ""), this.pathOf(each.path)))),
      nodes.length > MOST_INSIDE ? make("p", { class: "faint" }, `and ${count(nodes.length - MOST_INSIDE, "more file")}`) : null,
    ].filter(Boolean) : []);
    // Above the same files in a table a narrow page leaves it out.
    const kinds = folder.parent ? "inside" : "inside whole";
    return make("div", { class: kinds }, ...listed("In the context", files), ...listed("A next step could show", offered));
  }

  shown(file) {
    const found = [];
    if (file.reasons.length) found.push(make("ul", { "aria-label": "Reasons" }, ...file.reasons.map((reason) => make("li", {}, ...prose(reason)))));
    if (file.parts.length) {
      const parts = file.parts.map((part) => make("li", {},
        make("code", {}, part.name), `, ${linesOf(part.lines)}`,
        part.why ? make("div", { class: "faint" }, ...prose(part.why)) : null));
      if (file.parts_more) parts.push(make("li", {}, `and ${count(file.parts_more, "more part")}`));
      found.push(make("h3", {}, "Shown whole"), make("ul", { "aria-label": "Parts" }, ...parts));
    } else if (file.lines.length) {
      found.push(make("p", {}, `Shown: ${file.lines.map(linesOf).join(", ")}${moreOf(file)}.`));
    }
    return found;
  }

  actions(node) {
    const found = [];
    const isOpening = this.state.canOpen ? node.kind !== FILE : node.children.length > 0;
    if (isOpening && node !== this.state.root) found.push(make("button", { type: "button", click: () => this.acts.zoom(node) }, "Zoom in"));
    if (!this.state.canSteer || node.kind === REST || !node.path) return found;
    if (node.kind !== FILE) {
      if (node.level) found.push(this.button("Drop this folder", () => this.acts.rule(node, 0)));
      return found;
    }
    if (node.level) found.push(this.button("Drop", () => this.acts.rule(node, 0)));
    const prices = new Map(node.deeper ? node.deeper.prices : []);
    for (let level = Math.max(node.level + 1, 2); level <= 4; level += 1) {
      const price = prices.has(level) ? ` +${prices.get(level).toLocaleString("en")}` : "";
      if (price || level === 4) found.push(this.button(`Show ${LEVELS[level]}${price}`, () => this.acts.rule(node, level)));
    }
    if (node.path) found.push(this.button(node.level ? "Ask why" : "Ask why not", () => this.acts.why(node)));
    return found;
  }

  /** The files as a table, whose rows a narrow page stacks: roles keep it a table for whoever hears it. */
  files() {
    const { data } = this.state.picture;
    const cell = (kind, ...content) => make("td", { role: "cell", class: kind }, ...content);
    const rows = data.shown.map((file) => make("tr", { role: "row" },
      cell("path", this.pathOf(file.path)),
      cell("level", make("span", { class: `digit level${file.level}` }, String(file.level)), LEVELS[file.level]),
      cell("number", file.tokens.toLocaleString("en")),
      cell("lines", file.lines.map(spanOf).join(", ") + moreOf(file)),
      cell("why", ...prose(file.reasons.join("; ")))));
    const head = make("tr", { role: "row" }, ...["File", "Level", "Tokens", "Lines", "Why"].map((words) =>
      make("th", { scope: "col", role: "columnheader", class: words === "Tokens" ? "number" : null }, words)));
    const section = make("section", { "aria-labelledby": "files-title" }, make("h2", { id: "files-title" }, "In the context"));
    if (rows.length) {
      section.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of the files" },
        make("table", { role: "table" }, make("thead", { role: "rowgroup" }, head), make("tbody", { role: "rowgroup" }, ...rows))));
    } else {
      section.append(make("p", {}, "No file is shown in detail yet."));
    }
    if (data.shown_more) section.append(make("p", { class: "faint" }, `and ${count(data.shown_more, "more file")}.`));
    return section;
  }

  place(place) {
    const price = `+${place.tokens.toLocaleString("en")}`;
    return [
      make("span", { class: "price faint" }, `${place.number}.`),
      make("span", { class: "price" }, this.state.canSteer ? this.button(`Add ${price}`, () => this.acts.add(place), `Show ${place.path} ${place.head}`) : price),
      make("div", {}, make("code", {}, place.head), make("div", { class: "faint" }, linesOf(place.lines), ...(place.why ? ["; ", ...prose(place.why)] : []))),
    ];
  }

  menu() {
    const { data } = this.state.picture;
    const section = make("section", { "aria-labelledby": "menu-title" }, make("h2", { id: "menu-title" }, "What a next step could show, in tokens"));
    if (!data.menu.length && !data.cuts.length) section.append(make("p", {}, data.navigation_id ? "Nothing is on offer." : "A plan has no goal, so there is no menu."));
    section.append(...this.byFile(data.menu.slice(0, MOST_PLACES)));
    const rest = data.menu.slice(MOST_PLACES);
    if (rest.length) section.append(make("details", {}, make("summary", {}, count(rest.length, "more place")), ...this.byFile(rest)));
    if (data.menu_more) section.append(make("p", { class: "faint" }, `and ${count(data.menu_more, "place")} for which there was no room.`));
    if (data.cuts.length) {
      section.append(make("p", {}, "Shown in less detail for want of tokens:"), make("ul", {}, ...data.cuts.map((cut) =>
        make("li", {}, this.pathOf(cut.path), ` as ${LEVELS[cut.drawn]} in place of ${LEVELS[cut.wanted]}, +${cut.tokens.toLocaleString("en")}`))));
    }
    return section;
  }

  /** Places under the files that hold them, in the order of their numbers. */
  byFile(places) {
    const found = [];
    let list = null;
    places.forEach((place, at) => {
      if (!at || place.path !== places[at - 1].path) {
        list = make("ol", { class: "places", start: String(place.number) });
        found.push(make("h3", {}, this.pathOf(place.path)), list);
      }
      list.append(make("li", { value: String(place.number) }, ...this.place(place)));
    });
    return found;
  }

  timeline() {
    const { data } = this.state.picture;
    if (!data.turns.length) return null;
    const section = make("section", { "aria-labelledby": "turns-title" }, make("h2", { id: "turns-title" }, "Steps so far"));
    if (data.turns_before) section.append(make("p", { class: "faint" }, `${count(data.turns_before, "earlier step")} left out.`));
    const items = data.turns.map((turn) => {
      const bar = make("span", { class: "bar" });
      bar.style.width = `${Math.round(90 * Math.min(data.token_budget ? turn.tokens / data.token_budget : 0, 1))}px`;
      const used = turn.read || turn.written ? `, read ${turn.read.toLocaleString("en")} and wrote ${turn.written.toLocaleString("en")}` : "";
      return make("li", {},
        make("span", { class: "track", "aria-hidden": "true" }, bar),
        make("strong", {}, `Step ${turn.step}`),
        `: ${BY[turn.by] || turn.by} ${ACTIONS[turn.action] || turn.action}; ${count(turn.tokens, "token")} in ${count(turn.files, "file")}; ${dollars(turn.usd)}${used}.`,
        turn.words || turn.said ? make("details", {}, make("summary", {}, `What step ${turn.step} said`),
          turn.said ? make("p", {}, ...prose(turn.said)) : null, turn.words ? make("p", {}, ...prose(turn.words)) : null) : null);
    });
    section.append(make("ul", { class: "plain" }, ...items));
    if (data.ended) section.append(make("p", {}, ...prose(data.ended)));
    return section;
  }

  notes() {
    const { data } = this.state.picture;
    if (!data.notes.length) return null;
    return make("section", { "aria-labelledby": "notes-title" }, make("h2", { id: "notes-title" }, "Notes"), make("ul", {}, ...data.notes.map((note) => make("li", {}, ...prose(note)))));
  }
}
