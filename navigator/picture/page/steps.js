// The steps of a navigation: a slider that goes through them, what each changed, and what the files were before it.

class Steps {
  constructor(state, pathOf) {
    this.state = state;
    this.pathOf = pathOf;
    this.at = state.picture.data.turns.length - 1;
  }

  /** The section, null where there was no step. */
  section() {
    const { data } = this.state.picture;
    if (!data.turns.length) return null;
    this.told = make("div", {});
    const section = make("section", { "aria-labelledby": "turns-title", id: "steps" }, make("h2", { id: "turns-title" }, "Steps so far"));
    if (data.turns_before) section.append(make("p", { class: "faint" }, `${count(data.turns_before, "earlier step")} left out.`));
    if (data.turns.length > 1) {
      const slider = make("input", {
        type: "range", id: "step", min: "0", max: String(data.turns.length - 1), step: "1",
        input: (event) => { this.at = Number(event.target.value); this.tell(); },
      });
      slider.value = String(this.at);
      section.append(make("label", { class: "slider" }, "Step ", slider));
      this.slider = slider;
    }
    section.append(this.told);
    if (data.ended) section.append(make("p", {}, ...prose(data.ended)));
    this.tell();
    return section;
  }

  tell() {
    const { data } = this.state.picture;
    const turn = data.turns[this.at];
    const before = new Map(this.at ? data.turns[this.at - 1].shown : []);
    const after = new Map(turn.shown);
    const used = turn.read || turn.written ? `, read ${turn.read.toLocaleString("en")} and wrote ${turn.written.toLocaleString("en")}` : "";
    const paid = turn.usd ? `; ${dollars(turn.usd)}${used}` : "";
    if (this.slider) this.slider.setAttribute("aria-valuetext", `step ${turn.step}`);
    this.told.replaceChildren(...[
      make("p", {}, make("strong", {}, `Step ${turn.step}`), `: ${BY[turn.by] || turn.by} ${ACTIONS[turn.action] || turn.action}; ${count(turn.tokens, "token")} in ${count(turn.files, "file")}${paid}.`),
      turn.said ? make("p", {}, ...prose(turn.said)) : null,
      turn.words ? make("p", {}, ...prose(turn.words)) : null,
      this.at && isSame(before, after) ? make("p", { class: "faint" }, "The same files are in detail as before.") : make("div", { class: "sides" }, this.side(this.at ? "Before it" : "", before, after, "gone"), this.side("After it", after, before, "new")),
    ].filter(Boolean));
  }

  /** The files in detail on one side of a step; those that the other side lacks are marked. */
  side(title, files, other, mark) {
    if (!title) return "";
    const { paths } = this.state.picture.data;
    const rows = [...files].map(([at, level]) => {
      const isKept = other.get(at) === level;
      const word = other.has(at) ? `was ${LEVELS[other.get(at)]}` : mark;
      return make("li", { class: isKept ? null : mark }, this.pathOf(paths[at]), make("span", { class: "faint" }, ` ${LEVELS[level]}`), isKept || (other.has(at) && mark === "gone") ? null : make("span", { class: "badge" }, word));
    });
    return make("div", {}, make("h3", {}, title), rows.length ? make("ul", { class: "plain" }, ...rows) : make("p", { class: "faint" }, "No file in detail."));
  }
}

function isSame(one, other) {
  return one.size === other.size && [...one].every(([at, level]) => other.get(at) === level);
}
