// The whole page over one picture: what is chosen, zoomed, sought and shown.

class View {
  /** `ask` fetches a picture: of a folder (`within`), after a change (`steer`); null where nobody can be asked. */
  constructor(ask) {
    this.ask = ask;
    this.above = document.getElementById("above");
    this.main = document.getElementById("view");
    this.settings = { show: "all", area: "tokens", sought: "" };
    this.state = null;
    this.width = 0;
    this.opening = null;
    this.running = 0;
    new ResizeObserver(() => this.fit()).observe(this.main);
  }

  /** Draw a picture, zoomed to the folder `path`, or as the one before it was. */
  show(data, path = null) {
    const before = this.state;
    const picture = readPicture(data);
    const find = (known) => picture.byPath.get(known) || picture.root;
    const root = this.zoomable(find(path ?? (before ? before.root.path : "")));
    const known = before ? (before.file || before.chosen).path : "";
    const file = picture.files.find((each) => each.path === known) || null;
    const place = file && before.place ? file.places.find((each) => each.name === before.place.name) || null : null;
    this.state = {
      picture,
      root,
      chosen: path === null && before ? find(before.chosen.path) : root,
      file: path === null ? file : null,
      place: path === null ? place : null,
      line: 0,
      canOpen: Boolean(this.ask),
      canSteer: Boolean(this.ask) && Boolean(data.navigation_id) && data.status !== "cancelled",
      isBusy: () => this.running > 0,
      sizeOf: (node) => (this.settings.area === "files" ? node.files : node.area),
      isWanted: (node) => this.wanted(node),
    };
    if (!before && path === null) this.begin();
    document.title = `Map of ${data.repository || "the repository"}`;
    this.main.hidden = false;
    this.build();
  }

  /** Choose what the answer is surest of, shown rather than listed; of a change what it breaks. */
  begin() {
    const { state } = this;
    const { places, files } = state.picture;
    const named = places.filter((each) => each.name);
    const [place] = [named.find((each) => !each.tokens && each.sure), named.find((each) => each.sure), named.find((each) => !each.tokens), named.find(isInPart), places[0]].filter(Boolean);
    state.place = place || null;
    state.file = place ? place.file : files[0] || null;
    if (state.file && state.file.node) state.chosen = state.file.node;
  }

  zoomable(node) {
    return node.children.length || !node.parent ? node : node.parent;
  }

  wanted(node) {
    const { show, sought } = this.settings;
    const fits = (each) =>
      (show === "all" || (show === "shown" ? each.level > 0 : isListed(each))) &&
      (!sought || (each.kind !== REST && each.path.toLowerCase().includes(sought)));
    const reaches = (each) => (each.children.length ? each.children.some(reaches) : fits(each));
    return (show === "all" && !sought) || reaches(node);
  }

  build() {
    const { state } = this;
    const { data } = state.picture;
    const acts = {
      choosePlace: (place) => this.choosePart(place.file, place, 0),
      chooseFile: (file) => this.choosePart(file, null, 0),
      chooseLine: (file, line) => this.choosePart(file, file.places.find((each) => each.lines[0] <= line && line <= each.lines[1]) || null, line),
      goTo: (node) => this.goTo(node),
      zoom: (node) => this.zoom(node),
      rule: (node, level) => this.rule(node, level),
      outline: (node) => this.change({ ask: { outline: node.kind === FILE ? node.path : `${node.path}/` } }, `asked about ${node.path}`),
      add: (place) => this.change({ show: [place.number] }, `added ${place.head} of ${place.file.path}`),
    };
    this.panels = new Panels(state, acts);
    this.answer = new AnswerMap(state, acts);
    this.map = new MapWidget(state, (node) => this.chose(node), (node) => this.zoom(node));
    this.crumbs = make("nav", { class: "crumbs", "aria-label": "Folder" });
    this.found = make("div", { id: "found" });
    this.part = make("div", { id: "part" });
    const steps = new Steps(state, (path) => this.panels.pathOf(path));
    const beside = make("div", { class: "beside" }, ...(data.files.length ? [this.answer.element, keyOf()] : []), this.part);
    this.main.replaceChildren(...[
      make("div", { class: "columns" }, this.panels.outline(), beside),
      make("section", { "aria-labelledby": "whole-title", class: "overview" },
        make("h2", { id: "whole-title" }, "Where it lies in the repository"), this.tools(), this.found, this.crumbs, this.map.element, legendOf()),
      steps.section(),
    ].filter(Boolean));
    this.above.replaceChildren(headOf(state.picture), ...this.commands());
    this.width = 0;
    this.fit();
    this.listFound();
  }

  commands() {
    const found = [];
    if (this.state.canSteer) found.push(this.panels.button("Undo the last change", () => this.change({ feedback: "undo" }, "took the last change back")));
    if (this.onFullscreen) found.push(make("button", { type: "button", click: () => this.onFullscreen() }, "Larger"));
    return found.length ? [make("div", { class: "actions" }, ...found)] : [];
  }

  tools() {
    const choice = (name, words, choices) =>
      make("label", {}, words, make("select", { id: name, change: (event) => { this.settings[name] = event.target.value; this.redraw(); } },
        ...choices.map(([value, told]) => make("option", { value, selected: this.settings[name] === value }, told))));
    const find = make("input", {
      type: "search", id: "find", autocomplete: "off", spellcheck: "false",
      input: (event) => { this.settings.sought = event.target.value.trim().toLowerCase(); this.redraw(); this.listFound(); },
      keydown: (event) => { if (event.key === "Enter" && this.matches().length) this.goTo(this.matches()[0]); },
    });
    find.value = this.settings.sought;
    const tools = make("div", { class: "tools", role: "group", "aria-label": "What the map shows" },
      make("label", {}, "Find a file or folder", find),
      choice("show", "Show", [["all", "everything"], ["shown", "what is in the context"], ["offered", "what is listed"]]),
      choice("area", "Area by", [["tokens", "tokens (prose and data a tenth)"], ["files", "files"]]));
    return tools;
  }

  matches() {
    const { sought } = this.settings;
    if (!sought) return [];
    return this.state.picture.nodes.filter((node) => node.kind !== REST && node.path && node.path.toLowerCase().includes(sought));
  }

  listFound() {
    const all = this.matches();
    this.found.replaceChildren();
    if (!this.settings.sought) return;
    const shown = all.slice(0, MOST_FOUND).map((node) => make("li", {}, this.panels.plain(() => this.goTo(node), node.path)));
    if (shown.length) this.found.append(make("ul", { "aria-label": "Found" }, ...shown));
    say(all.length ? `${count(all.length, "match").replace("matchs", "matches")}.` : "No file or folder of the picture has that in its path.");
  }

  fit() {
    if (!this.state) return;
    const width = Math.floor(this.main.clientWidth);
    if (!width || width === this.width) return;
    this.width = width;
    this.redraw();
  }

  redraw() {
    this.main.classList.toggle("narrow", this.width < 760);
    if (this.answer.element.isConnected) this.answer.draw(this.answer.element.clientWidth);
    this.map.draw(this.map.element.clientWidth || this.width);
    this.showCrumbs();
    this.showChosen();
  }

  showCrumbs() {
    const path = [];
    for (let node = this.state.root; node; node = node.parent) path.unshift(node);
    const name = (node) => node.name || this.state.picture.data.repository || "repository";
    this.crumbs.replaceChildren(...path.flatMap((node, at) => [
      at ? make("span", { "aria-hidden": "true" }, "/") : null,
      node === this.state.root ? make("span", { "aria-current": "location" }, name(node)) : make("button", { type: "button", class: "plain", click: () => this.zoom(node) }, name(node)),
    ]).filter(Boolean));
  }

  showChosen() {
    this.part.replaceChildren(this.panels.chosen());
    this.panels.markEntry();
    if (this.answer.element.isConnected) this.answer.choose(this.state.place);
  }

  /** Choose a file of the answer, one of its places or one of its lines; the map of the repository follows. */
  choosePart(file, place, line) {
    Object.assign(this.state, { file, place, line });
    if (file.node && this.map.items.has(file.node)) this.map.choose(file.node, false, true);
    else if (file.node) this.state.chosen = file.node;
    this.showChosen();
    this.part.scrollIntoView({ block: "nearest" });
    say(place ? `${nameOf(place)}, ${file.path}, ${linesOf(place.lines)}` : file.path);
  }

  /** Note what was chosen in the map of the repository. */
  chose(node) {
    this.choose(node);
    this.showChosen();
  }

  choose(node) {
    Object.assign(this.state, { chosen: node, file: node.file, place: null, line: 0 });
  }

  /** Show a folder alone; what the picture has folded of it is fetched, where somebody can be asked. */
  zoom(node) {
    const folder = folderOf(node);
    this.opening = null;
    if (folder.children.length) {
      this.state.root = folder;
      this.choose(folder);
      this.redraw();
      this.map.choose(folder, true);
      say(`Zoomed to ${titleOf(folder)}.`);
    }
    const isLookedInto = this.state.picture.data.within === folder.path;
    if (this.ask && isFolded(folder) && !isLookedInto) return this.open(folder);
    if (node.kind === REST && isLookedInto && this.ask) say(`${titleOf(node)}: too small to be shown one by one.`);
    else if (node.kind === REST || node.kind === CLOSED) say(foldedOf(node));
    return null;
  }

  open(folder) {
    const { path } = folder;
    this.opening = path;
    return this.whileBusy(`Opening ${titleOf(folder)} …`, async () => {
      const answer = await this.ask(this.state.picture.data, { within: path }, "");
      // Another folder may have been gone to meanwhile.
      if (this.opening !== path) return null;
      this.show(answer.picture, path);
      const { root } = this.state;
      return root.path === path ? `Zoomed to ${titleOf(root)}.` : `${titleOf(folder)} can't be opened: the repository has no such folder now.`;
    });
  }

  goTo(node) {
    for (let above = node; above !== this.state.root; above = above.parent) {
      if (!above.parent) { this.state.root = this.state.picture.root; break; }
    }
    this.opening = null;
    this.choose(node);
    this.redraw();
    while (!this.map.items.has(node)) {
      // Too small to be drawn from here: zoom towards it.
      let step = node;
      while (step.parent && step.parent !== this.state.root) step = step.parent;
      if (!step.children.length) break;
      this.state.root = step;
      this.choose(node);
      this.redraw();
    }
    if (this.map.items.has(node)) this.map.choose(node, true);
    else { this.choose(node); this.showChosen(); }
    this.part.scrollIntoView({ block: "nearest" });
    say(labelOf(node));
  }

  rule(node, level) {
    const pattern = node.kind === FILE ? escapeGlob(node.path) : `${escapeGlob(node.path)}/**`;
    const done = level ? `asked to show ${node.path} at level ${level}` : `dropped ${node.path}`;
    return this.change({ updates: { verbosity: [{ pattern, level }] } }, done);
  }

  async change(steer, done) {
    if (this.running || !this.ask) return;
    const { data } = this.state.picture;
    await this.whileBusy("Working …", async () => {
      const answer = await this.ask(data, { steer, within: data.within }, done);
      this.show(answer.picture);
      return answer.said || `Done: ${done}.`;
    });
  }

  /** Run an act that returns what to say at its end, null for nothing; meanwhile nothing can be changed. */
  async whileBusy(words, act) {
    this.busy(1);
    say(words);
    let told;
    try {
      told = await act();
    } catch (error) {
      told = `That did not work: ${error.message}`;
    }
    this.busy(-1);
    if (told === null) return;
    say(told);
    const item = this.map.items.get(this.state.chosen);
    if (item) item.focus({ preventScroll: true });
  }

  busy(more) {
    this.running += more;
    if (this.running) this.main.setAttribute("aria-busy", "true");
    else this.main.removeAttribute("aria-busy");
    for (const button of document.querySelectorAll("button.act")) button.disabled = this.running > 0;
  }
}
