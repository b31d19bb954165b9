"use strict";
(() => {
  const live = document.querySelector("[data-live]"), $ = id => document.getElementById(id);
  if (!live || !live.dataset.live) return;
  const stream = new EventSource(live.dataset.live);
  const on = (name, f) => stream.addEventListener(name, e => f(JSON.parse(e.data)));

  // The server escapes what it sends, and the policy of the page lets nothing in it run.
  on("row", d => {
    const made = document.createElement("template");
    made.innerHTML = d.html;
    const old = $(d.id);
    if (old) old.replaceWith(made.content); else live.append(made.content);
  });
  on("state", d => {
    const state = $("state"), waits = $("waits");
    if (state && d.state) { state.textContent = d.text; state.className = "state " + d.state; }
    if (waits) { waits.textContent = d.waits ? "⏳ " + d.waits : ""; waits.hidden = !d.waits; }
  });
  on("reload", () => { stream.close(); location.reload(); });
  on("end", () => { stream.close(); live.dataset.live = ""; live.dataset.ended = "yes"; });
})();
