/** A history of states: what was undone can be redone until something new is done. */
export class History {
  constructor(state, limit = 50) {
    this.past = [];
    this.future = [];
    this.state = state;
    this.limit = limit;
  }

  push(state) {
    this.past.push(this.state);
    if (this.past.length > this.limit) this.past.shift();
    this.state = state;
    this.future = [];
  }

  undo() {
    if (this.past.length === 0) return false;
    this.future.push(this.state);
    this.state = this.past.pop();
    return true;
  }

  redo() {
    if (this.future.length === 0) return false;
    this.past.push(this.state);
    this.state = this.future.pop();
    return true;
  }
}
