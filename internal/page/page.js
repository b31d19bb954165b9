"use strict";
(() => {
  const root = document.documentElement, $ = id => document.getElementById(id);
  root.classList.add("scripted"); // before there is anything that it styles
  const begin = () => {
    const units = () => document.querySelectorAll(".row, .msg, article.comment, .mark, details.plan");
    const groups = () => document.querySelectorAll(".step, .phase");
    const reveal = el => { for (let e = el; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true; };

    // What a link leads to is opened.
    const target = () => {
      const el = location.hash.length > 1 && $(location.hash.slice(1));
      if (el) { el.classList.remove("nohit"); reveal(el); el.scrollIntoView(); }
    };
    addEventListener("hashchange", target);

    // Search: what does not hold the words is hidden, and what does is opened.
    const search = $("search"), failed = $("failed"), hits = $("hits");
    const find = () => {
      const words = search.value.trim().toLowerCase();
      let n = 0;
      for (const el of units()) {
        const hit = (!words || el.textContent.toLowerCase().includes(words)) && (!failed.checked || el.classList.contains("failed"));
        el.classList.toggle("nohit", !hit);
        if (hit && (words || failed.checked)) { n++; if (n <= 50) reveal(el.parentElement); }
      }
      for (const el of groups()) el.classList.toggle("nohit", (words || failed.checked) && !el.querySelector(".row:not(.nohit)"));
      hits.textContent = words || failed.checked ? n : "";
    };
    let wait;
    if (search) {
      search.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(find, 150); });
      failed.addEventListener("change", find);
      $("minor").addEventListener("change", e => root.classList.toggle("all", e.target.checked));
      $("open").addEventListener("click", () => { for (const el of document.querySelectorAll("main details")) el.open = true; });
      $("close").addEventListener("click", () => { for (const el of document.querySelectorAll("main details:not(.phase)")) el.open = false; });
      addEventListener("keydown", e => {
        if (e.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { e.preventDefault(); search.focus(); }
      });
    }
    addEventListener("beforeprint", () => { root.classList.add("all"); for (const el of document.querySelectorAll("details")) el.open = true; });
    target();
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin); else begin();
})();
