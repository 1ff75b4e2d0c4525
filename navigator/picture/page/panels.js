// What stands around the maps: what is sure, the outline, the chosen part with its source, and the steps so far.

const MOST_FOUND = 12;
const MOST_INSIDE = 8;
const MOST_LINKS = 12;

function headOf({ data, places }) {
  const head = make("header", {}, make("h1", {}, `Map of ${data.repository || "the repository"}`));
  if (data.goal) head.append(make("p", { class: "goal", tabindex: "0", role: "group", "aria-label": "Goal" }, data.goal));
  const [fault] = data.findings;
  if (fault) {
    const more = data.findings.length > 1 ? `, and ${count(data.findings.length - 1, "more place")}` : "";
    const where = `${data.files[fault.file].path}:${fault.line}`;
    head.append(make("p", { id: "breaks" }, `${fault.broken ? "Breaks" : "Forgotten"}: `, ...prose(`${fault.within ? `\`${fault.within}\`, ` : ""}${where}: ${fault.message}; ${fault.action}`), `${more}.`));
  }
  if (data.sure) head.append(make("p", { id: "sure" }, ...prose(data.sure)));
  const listed = data.places.length + data.places_more;
  const whole = data.places.filter((place) => !place.tokens).length;
  const inPart = places.filter(isInPart).length;
  const facts = [`${count(listed, "place")} in ${count(data.files.length + data.files_more, "file")}: the source of ${whole.toLocaleString("en")} is in the context${inPart ? `, of ${inPart.toLocaleString("en")} in part` : ""}`];
  facts.push(`${data.tokens.toLocaleString("en")} of ${count(data.token_budget, "token")}`);
  if (data.spent_usd) facts.push(`${dollars(data.spent_usd)} of ${dollars(data.limit_usd)} spent`);
  if (data.left_out) facts.push(`${count(data.left_out, "file")} had no room`);
  head.append(make("p", { class: "faint" }, `${facts.join("; ")}.`));
  // Faults stand in the answer, with their lines.
  const faults = data.findings.map((each) => `${data.files[each.file].path}:${each.line}`);
  for (const sentence of data.impact.filter((each) => !faults.some((fault) => each.startsWith(fault)))) head.append(make("p", {}, ...prose(sentence)));
  if (data.notes.length) head.append(make("ul", { class: "notes", "aria-label": "Notes" }, ...data.notes.map((note) => make("li", {}, ...prose(note)))));
  return head;
}

/** What the marks of the answer's map mean. */
function keyOf() {
  const marks = [["shown-lines", "lines in the context"], ["bar whole", "a place with its source"], ["bar", "a place, listed"], ["changed", "changed"], ["fault", "broken or forgotten"], ["curve", "calls, overrides or extends"]];
  return make("ul", { class: "legend key", "aria-label": "Marks" }, ...marks.map(([kind, words]) => make("li", {}, make("span", { class: kind, "aria-hidden": "true" }), words)), make("li", {}, make("span", { class: "star", "aria-hidden": "true" }, "★"), "among the surest"));
}

function legendOf() {
  const samples = LEVELS.map((words, level) => make("li", {}, make("span", { class: `level${level}` }), words));
  const part = make("span", { class: "level0 share", "aria-hidden": "true" });
  part.style.setProperty("--share", "40%");
  samples.push(make("li", {}, part, "shown in part"));
  samples.push(make("li", {}, make("span", { class: "level0 listed", "aria-hidden": "true" }), "listed in the outline"));
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

  plain(act, ...words) {
    return make("button", { type: "button", class: "plain", click: act }, ...words);
  }

  pathOf(path) {
    const node = this.state.picture.byPath.get(path);
    return node ? this.plain(() => this.acts.goTo(node), ...breakable(path)) : make("code", {}, ...breakable(path));
  }

  /** The answer in words: what a change breaks, then each file with the places that it is named for. */
  outline() {
    const { data, files } = this.state.picture;
    const box = make("section", { id: "outline", "aria-labelledby": "outline-title" });
    box.append(make("h2", { id: "outline-title" }, "The answer"));
    const faults = files.flatMap((file) => file.findings.map((each) => ({ file, each })));
    if (faults.length) {
      box.append(make("h3", {}, "What the change breaks or forgets"), make("ul", { class: "plain faults" }, ...faults.map(({ file, each }) =>
        make("li", {}, this.plain(() => this.acts.chooseLine(file, each.line), ...breakable(file.path), `:${each.line}`),
          make("div", {}, each.sure ? "" : "likely: ", ...prose(`${each.message}; ${each.action}`))))));
    }
    const surest = this.state.picture.places.filter((place) => place.sure || (!place.tokens && place.number))
      .sort((one, other) => Number(other.sure) - Number(one.sure));
    if (this.state.picture.places.length > MOST_INSIDE && surest.length) {
      box.append(make("h3", {}, "Start with these"), make("ol", { class: "places" }, ...surest.slice(0, MOST_INSIDE).map((place) => make("li", {}, this.entry(place)))));
    }
    for (const file of files) {
      box.append(make("h3", {}, this.plain(() => this.acts.chooseFile(file), ...breakable(file.path)), file.changed.length ? make("span", { class: "badge" }, "changed") : null));
      const places = file.places.map((place, at) => make("li", { value: place.number ? String(place.number) : null }, this.entry(place, file.places[at - 1])));
      if (places.length) box.append(make("ol", { class: "places" }, ...places.slice(0, MOST_INSIDE)));
      if (places.length > MOST_INSIDE) box.append(make("details", {}, make("summary", {}, count(places.length - MOST_INSIDE, "more place")), make("ol", { class: "places" }, ...places.slice(MOST_INSIDE))));
      if (!places.length) box.append(make("p", { class: "faint" }, file.shown.length ? `${file.shown.map(linesOf).join(", ")} shown` : `${LEVELS[file.level]}`));
    }
    if (!files.length) box.append(make("p", {}, data.navigation_id ? "Nothing is listed yet." : "The plan shows no file in detail."));
    if (data.tests) box.append(make("h3", {}, "Tests"), make("p", {}, make("code", {}, data.tests)));
    if (data.places_more || data.files_more) box.append(make("p", { class: "faint" }, `and ${count(data.places_more, "more place")} in ${count(data.files_more, "more file")}.`));
    return box;
  }

  entry(place, above) {
    return make("button", { type: "button", class: "entry", "data-place": String(place.at), click: () => this.acts.choosePlace(place) },
      make("span", { class: place.tokens ? (isInPart(place) ? "dot part" : "dot") : "dot whole", "aria-hidden": "true" }),
      make("span", { class: "number" }, place.number ? String(place.number) : ""),
      make("span", { class: "entry-name" }, ...breakableName(briefOf(place, above))),
      make("span", { class: "faint" }, spanOf(place.lines)),
      make("span", { class: "hidden" }, `${place.tokens ? (isInPart(place) ? ", in part with its source" : "") : ", with its source"}${place.sure ? ", among the surest" : ""}`),
      place.sure ? make("span", { class: "star", title: "among the surest", "aria-hidden": "true" }, "★") : null);
  }

  markEntry() {
    for (const entry of document.querySelectorAll(".entry")) {
      const isChosen = this.state.place !== null && entry.dataset.place === String(this.state.place.at);
      if (isChosen) entry.setAttribute("aria-current", "true");
      else entry.removeAttribute("aria-current");
    }
  }

  chosen() {
    const { place, file, chosen } = this.state;
    const box = make("section", { class: "panel", "aria-label": "The chosen part", id: "chosen" });
    if (place) this.describePlace(box, place);
    else if (file) this.describeFile(box, file);
    else this.describeNode(box, chosen);
    return box;
  }

  describePlace(box, place) {
    const { file } = place;
    const size = place.lines[1] - place.lines[0] + 1;
    const listed = isInPart(place) ? `${linesShown(place)} of ${count(size, "line")} are in the context; the rest` : "Listed; its source";
    const what = place.tokens ? `${listed} would add ${count(place.tokens, "token")}.` : "Its source is in the context.";
    box.append(
      make("h2", {}, ...breakable(place.name || file.path)),
      make("p", { class: "faint" }, this.plain(() => this.acts.chooseFile(file), ...breakable(file.path)), `, ${linesOf(place.lines)}. `, what));
    if (place.why) box.append(make("p", {}, "Why: ", ...prose(place.why)));
    box.append(codeOf(file, this.state.line ? this.around(file) : place.lines), this.links(place));
    const actions = place.tokens && this.state.canSteer ? [this.button(`Add +${place.tokens.toLocaleString("en")}`, () => this.acts.add(place), `Show ${file.path} ${place.head}`)] : [];
    box.append(this.actions(file.node, actions));
  }

  around(file) {
    return [Math.max(this.state.line - 6, 1), Math.min(this.state.line + 6, file.length)];
  }

  links(place) {
    if (!place.links.length) return "";
    const rows = place.links.slice(0, MOST_LINKS).map(({ place: other, words, line }) => make("li", {},
      `${words} `, this.plain(() => this.acts.choosePlace(other), nameOf(other)), make("span", { class: "faint" }, ` ${baseOf(other.file.path)}, by line ${line}`)));
    return make("ul", { class: "plain", "aria-label": "Relations" }, ...rows);
  }

  describeFile(box, file) {
    box.append(make("h2", {}, ...breakable(file.path)), make("p", { class: "faint" }, this.facts(file)));
    if (file.reasons.length) box.append(make("ul", { "aria-label": "Reasons" }, ...file.reasons.map((reason) => make("li", {}, ...prose(reason)))));
    const cut = this.state.picture.data.cuts.find((each) => each.path === file.path);
    if (cut) box.append(make("p", {}, `The budget shows it as ${LEVELS[cut.drawn]} in place of ${LEVELS[cut.wanted]}: ${count(cut.tokens, "more token")} would do.`));
    const shown = this.state.line ? [this.around(file)] : file.shown;
    for (const lines of shown) box.append(codeOf(file, lines));
    if (!this.state.line && file.shown_more) box.append(make("p", { class: "faint" }, `and ${count(file.shown_more, "more stretch")} of lines.`.replace("stretchs", "stretches")));
    box.append(this.actions(file.node, []));
  }

  facts(file) {
    const whole = file.node && file.node.kind === FILE ? ` of its ${count(file.node.tokens, "token")}` : "";
    return file.level ? `Shown as ${LEVELS[file.level]}: ${file.tokens.toLocaleString("en")}${whole || " tokens"} are in the context.` : `${LEVELS[0]}; ${count(file.length, "line")}.`;
  }

  describeNode(box, node) {
    box.append(make("h2", {}, ...breakable(titleOf(node))), make("p", { class: "faint" }, this.factsOfNode(node)));
    if (node.kind === FILE && !node.file) box.append(make("p", {}, "The answer names nothing in it."));
    if (node.kind === FOLDER) box.append(this.inside(node));
    if (!this.state.canOpen && node.kind !== FILE && node.kind !== FOLDER) box.append(make("p", { class: "faint" }, foldedOf(node)));
    box.append(this.actions(node, []));
  }

  factsOfNode(node) {
    const size = `${count(node.tokens, "token")} of source`;
    if (node.kind === FILE) return `${LEVELS[node.level]}; ${size}.`;
    return `${count(node.files, "file")}, ${size}; ${node.level ? `at most ${LEVELS[node.level]}` : "none is shown"}.`;
  }

  /** What the answer has in a folder, as a short way to it. */
  inside(folder) {
    const files = [...withAllBelow(folder)].filter((each) => each.file);
    if (!files.length) return make("p", { class: "faint" }, "The answer names nothing in it.");
    return make("div", {},
      make("h3", {}, "In the answer"),
      make("ul", { class: "plain" }, ...files.slice(0, MOST_INSIDE).map((each) => make("li", {}, this.pathOf(each.path)))),
      files.length > MOST_INSIDE ? make("p", { class: "faint" }, `and ${count(files.length - MOST_INSIDE, "more file")}`) : null);
  }

  actions(node, first) {
    const found = [...first, ...(node ? this.actionsOf(node) : [])];
    return found.length ? make("div", { class: "actions" }, ...found) : "";
  }

  actionsOf(node) {
    const found = [];
    const isOpening = this.state.canOpen ? node.kind !== FILE : node.children.length > 0;
    if (isOpening && node !== this.state.root) found.push(make("button", { type: "button", click: () => this.acts.zoom(node) }, "Zoom in"));
    if (!this.state.canSteer || node.kind === REST || !node.path) return found;
    if (node.kind !== FILE) {
      if (node.level) found.push(this.button("Drop this folder", () => this.acts.rule(node, 0)));
      return found;
    }
    if (node.level) found.push(this.button("Drop", () => this.acts.rule(node, 0), `Drop ${node.path}`));
    if (node.level < 4) found.push(this.button(`Show ${LEVELS[4]}`, () => this.acts.rule(node, 4)));
    found.push(this.button("Outline", () => this.acts.outline(node)));
    return found;
  }
}
