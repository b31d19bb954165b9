"use strict";
(() => {
  const root = document.documentElement, $ = id => document.getElementById(id);
  root.classList.add("scripted"); // before there is anything that it styles
  const begin = () => {
    const units = () => document.querySelectorAll(".row, .msg, article.comment, .mark, details.plan");
    const groups = () => document.querySelectorAll(".step, .phase");
    const reveal = el => { for (let e = el; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true; };

    // What a link leads to is opened.
    const tools = document.querySelector(".tools");
    const target = () => {
      if (tools) root.style.setProperty("--bar", tools.offsetHeight + "px"); // which covers what is scrolled to
      const el = location.hash.length > 1 && $(location.hash.slice(1));
      if (!el) return;
      for (let e = el; e; e = e.parentElement) e.classList.remove("nohit"); // a filter hides nothing that is asked for
      reveal(el);
      el.scrollIntoView();
    };
    addEventListener("hashchange", target);
    addEventListener("click", e => { const a = e.target.closest("a[href^='#']"); if (a && a.getAttribute("href") === location.hash) target(); });

    // Search: what does not hold the words is hidden, and what does is opened.
    const search = $("search"), failed = $("failed"), hits = $("hits");
    let found = [], at = 0;
    const go = step => {
      if (!found.length) return;
      found[at].classList.remove("at");
      at = (at + step + found.length) % found.length;
      reveal(found[at].parentElement);
      found[at].classList.add("at");
      found[at].scrollIntoView({block: "center"});
    };
    const find = () => {
      const words = search.value.trim().toLowerCase(), by = words || failed.checked;
      let n = 0;
      if (found[at]) found[at].classList.remove("at");
      found = [], at = 0;
      const named = new Set(); // steps that the words name: "step 12" or 12, and not 120
      for (const el of document.querySelectorAll(".step[data-n]"))
        if (words && !failed.checked && (words === el.dataset.n || words === el.querySelector("summary b").textContent.toLowerCase())) named.add(el);
      for (const el of units()) {
        const hit = (!words || el.textContent.toLowerCase().includes(words)) && (!failed.checked || el.classList.contains("failed"));
        const inNamed = named.size > 0 && named.has(el.closest(".step"));
        el.classList.toggle("nohit", !hit && !inNamed);
        el.classList.toggle("hit", Boolean(hit && by));
        if (hit && by) { n++; found.push(el); if (n <= 50) reveal(el.parentElement); }
      }
      for (const el of named) { n++; reveal(el); }
      for (const el of groups()) el.classList.toggle("nohit", by && !el.querySelector(".row:not(.nohit)"));
      found.unshift(...named);
      go(0);
      hits.textContent = !by ? "" : n === 0 ? hits.dataset.none : n === 1 ? hits.dataset.single : hits.dataset.many.replace("#", n);
    };
    let wait;
    if (search) {
      search.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(find, 150); });
      search.addEventListener("keydown", e => {
        if (e.key !== "Enter") return;
        e.preventDefault();
        go(e.shiftKey ? -1 : 1);
      });
      failed.addEventListener("change", find);
      $("minor").addEventListener("change", e => root.classList.toggle("all", e.target.checked));
      $("open").addEventListener("click", () => { for (const el of document.querySelectorAll("main details")) el.open = true; });
      $("close").addEventListener("click", () => { for (const el of document.querySelectorAll("main details")) el.open = false; });
      addEventListener("keydown", e => {
        if (e.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { e.preventDefault(); search.focus(); }
      });
    }
    addEventListener("beforeprint", () => { root.classList.add("all"); for (const el of document.querySelectorAll("details")) el.open = true; });
    target();
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin); else begin();
})();
