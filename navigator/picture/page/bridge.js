// What the page and its host say to each other: JSON-RPC 2.0 by postMessage, MCP Apps of 2026-01-26.

const PROTOCOL = "2026-01-26";
const UNKNOWN_METHOD = -32601;

class Bridge {
  constructor(host, handlers) {
    this.host = host;
    this.handlers = handlers;
    this.waiting = new Map();
    this.last = 0;
    window.addEventListener("message", (event) => {
      if (event.source === this.host && event.data && event.data.jsonrpc === "2.0") this.hear(event.data);
    });
  }

  hear(message) {
    if (message.method !== undefined) {
      const handler = this.handlers[message.method];
      if (message.id === undefined) {
        if (handler) handler(message.params || {});
      } else if (handler) {
        this.send({ id: message.id, result: handler(message.params || {}) || {} });
      } else {
        this.send({ id: message.id, error: { code: UNKNOWN_METHOD, message: "The map does not know this method." } });
      }
      return;
    }
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    this.waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(String(message.error.message || "The host refused.")));
    else waiting.resolve(message.result || {});
  }

  send(message) {
    // A host's origin is its own affair: the page holds nothing that its host has not given it.
    this.host.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  request(method, params) {
    this.last += 1;
    const id = this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  notify(method, params) {
    this.send({ method, params });
  }

  async call(name, given) {
    const result = await this.request("tools/call", { name, arguments: given });
    if (result.isError || !result.structuredContent) {
      const told = (result.content || []).find((each) => each.type === "text");
      throw new Error(told ? told.text : "The server sent no data; ask for the map again.");
    }
    return result.structuredContent;
  }
}
