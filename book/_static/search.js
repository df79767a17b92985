/* Shows beside each page that the search found where its words stand, also from the file system, where a browser may not
   read other pages. What the pages say: excerpts.js, made by book/tools/site/excerpts.py. */
"use strict";

(() => {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; // Sphinx would fetch each page
  const [before, length] = [120, 240];
  const words = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
  const stemOf = (word) => word.slice(0, Math.max(4, word.length - 3)); // "ranking" finds "ranks"

  /** The text around the first word that stands in it, or its beginning. */
  function around(text) {
    const lower = text.toLowerCase();
    const found = [...words, ...words.map(stemOf)].map((word) => lower.indexOf(word)).filter((at) => at >= 0);
    if (!found.length) return "";
    const start = Math.max(0, text.lastIndexOf(" ", Math.max(0, found[0] - before)) + 1);
    const end = text.indexOf(" ", start + length);
    return (start ? "\u2026 " : "") + (end < 0 ? text.slice(start) : `${text.slice(start, end)} \u2026`);
  }

  /** From the section that a result names; for a whole page, from the section that has most of the words. */
  function excerptOf(link) {
    const [page, anchor] = link.getAttribute("href").split("#");
    const sections = window.bookExcerpts[page.replace(/\.html.*$/, "")] ?? {};
    const having = (text) => words.filter((word) => text.toLowerCase().includes(stemOf(word))).length;
    const best = Object.values(sections).sort((one, other) => having(other) - having(one))[0] ?? "";
    const own = sections[anchor ?? ""] ?? "";
    return around(own) || (anchor ? own.slice(0, length) : around(best));
  }

  function show(row) {
    const link = row.querySelector("a");
    const text = link && !row.querySelector(".context, span") ? excerptOf(link) : ""; // a name of the API is told already
    if (!text) return;
    const told = Object.assign(document.createElement("p"), { className: "context" });
    const stems = words.map(stemOf).join("|");
    text.split(new RegExp(`((?:${stems})[\\p{L}\\p{N}]*)`, "giu")).forEach((part, at) =>
      told.append(at % 2 ? Object.assign(document.createElement("strong"), { textContent: part }) : part));
    row.append(told);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const results = document.getElementById("search-results");
    const showAll = () => results.querySelectorAll("li").forEach(show);
    new MutationObserver(showAll).observe(results, { childList: true, subtree: true });
    showAll();
  });
})();
