// Where the page is: opened from disk with its data in it, or within a host that it asks for them.

const PATIENCE_MS = 3000;

function openFromDisk(text) {
  new View(null).show(JSON.parse(text));
  say("");
}

async function openInHost() {
  let navigation = "";
  let wanted = null;
  let capabilities = {};
  let context = {};
  let isReady = false;
  const take = (params) => {
    const given = (params.structuredContent || params.arguments || {}).navigation_id;
    if (given) navigation = String(given);
    if (isReady) load();
  };
  const bridge = new Bridge(window.parent, {
    "ui/notifications/tool-input": take,
    "ui/notifications/tool-result": take,
    "ui/notifications/tool-cancelled": () => say("The map was not made, as the call was cancelled."),
    "ui/notifications/host-context-changed": (changed) => adapt(changed),
    "ui/resource-teardown": () => ({}),
    ping: () => ({}),
  });
  const view = new View(async (data, wish, done) => {
    const asked = { navigation_id: data.navigation_id, within: wish.within };
    if (!wish.steer) return bridge.call("map_data", asked);
    const steer = { at_step: data.turns.at(-1).step, ...wish.steer };
    const answer = await bridge.call("map_data", { ...asked, steer });
    // Paths are somebody else's text: as JSON strings they can't pass for words of the user.
    const told = `In the map of navigation ${data.navigation_id} the user ${JSON.stringify(done)}. step or get_context brings what is new.`;
    bridge.request("ui/update-model-context", { content: [{ type: "text", text: told }] }).catch(() => {});
    return answer;
  });

  function adapt(changed) {
    context = { ...context, ...changed };
    if (context.theme === "light" || context.theme === "dark") document.documentElement.dataset.theme = context.theme;
    const modes = context.availableDisplayModes || [];
    const isLarge = context.displayMode === "fullscreen";
    view.onFullscreen = modes.includes("fullscreen") && !isLarge ? () => bridge.request("ui/request-display-mode", { mode: "fullscreen" }).then((mode) => adapt({ displayMode: mode.mode })).catch(() => {}) : null;
  }

  async function load() {
    if (wanted === navigation) return;
    wanted = navigation;
    const asked = navigation;
    if (!capabilities.serverTools) {
      say(`This host does not let the map ask the server. In a terminal, \`repo-navigator view ${navigation || "ID"} --html map.html\` writes it as a page.`);
      return;
    }
    try {
      const answer = await bridge.call("map_data", asked ? { navigation_id: asked } : {});
      if (wanted !== asked) return;
      view.show(answer.picture);
      say("");
    } catch (error) {
      wanted = null;
      say(`The map can't be shown: ${error.message}`);
    }
  }

  const answer = await bridge.request("ui/initialize", {
    appInfo: { name: "repo-navigator", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    protocolVersion: PROTOCOL,
  });
  capabilities = answer.hostCapabilities || {};
  adapt(answer.hostContext || {});
  bridge.notify("ui/notifications/initialized", {});
  isReady = true;
  if (navigation) load();
  // After a reload some hosts send nothing: the latest navigation is meant then.
  else setTimeout(() => { if (!view.state && wanted === null) load(); }, PATIENCE_MS);
  const main = document.getElementById("main");
  let sent = "";
  new ResizeObserver(() => {
    const box = main.getBoundingClientRect();
    const size = { width: Math.ceil(box.width), height: Math.ceil(box.height) };
    if (sent === JSON.stringify(size)) return;
    sent = JSON.stringify(size);
    bridge.notify("ui/notifications/size-changed", size);
  }).observe(main);
}

function start() {
  const text = document.getElementById("picture").textContent;
  try {
    if (text.trim()) openFromDisk(text);
    else if (window.parent !== window) openInHost().catch((error) => say(`The host did not answer: ${error.message}`));
    else say("This page shows a map within an assistant; `repo-navigator view` writes one that opens by itself.");
  } catch (error) {
    say(`The map can't be drawn: ${error.message}`);
  }
}

start();
