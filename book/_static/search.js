/* The search, and in which order it lists what it found: a word in a title counts most, then one in a heading, then how
   often and how early the text says it. What pages say: excerpts.js, made by book/tools/site/excerpts.py. */
"use strict";

(() => {
  const { element } = window.book;
  const GREEK = { α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", λ: "lambda", ρ: "rho", σ: "sigma", τ: "tau", π: "pi", ω: "omega" };
  /** Pages that repeat what others explain come after those. */
  const REPEATS = /^(results|architecture|errata|questions|exercises|equations|bibliography|contributing\/|labs\/|timings|glossary|notation|syllabus|teaching|claims-)/;
  const LONGEST = 240; // letters of an excerpt

  /** The end of a word that its plural or its verb may lack. */
  const stem = (word) => word
    .replace(/(?<=..)(?:ies)$/u, (end, at, whole) => (whole.length > 4 ? "y" : "ie"))
    .replace(/(?<=ch|sh|x|ss)es$/u, "")
    .replace(/(?<=[^su]..?|..[^su])s$/u, "")
    .replace(/(?<=...)(?:ing|ed)$/u, "");
  const plain = (text) => text.normalize("NFKC").replace(/[α-ω]/gu, (letter) => GREEK[letter] ?? letter);
  /** The words of a query: what is joined by a hyphen is one word. */
  const asked = (text) => (plain(text).toLowerCase().match(/[\p{L}\p{N}@]+(?:[-_][\p{L}\p{N}]+)*/gu) ?? [])
    .map((word) => stem(word.replace(/[-_]/g, "")));
  /** The words of a text: what is joined by a hyphen, or a name like APLoss, is there as a whole and in its parts. */
  function said(text) {
    return (plain(text).match(/[\p{L}\p{N}@]+(?:[-_][\p{L}\p{N}]+)*/gu) ?? []).flatMap((word) => {
      const parts = word.replace(/([\p{Ll}\p{N}])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1$2-").split(/[-_]/);
      const whole = stem(parts.join("").toLowerCase());
      return parts.length > 1 ? [whole, ...parts.map((part) => stem(part.toLowerCase()))] : [whole];
    });
  }
  /** How often words stand in others, as themselves or, for less, as a beginning. */
  const count = (word, words) => words.reduce((sum, one) => sum + (one === word ? 1 : word.length > 2 && one.startsWith(word) ? 0.3 : 0), 0);
  const phrase = (query, words) => query.length > 1 && ` ${words.join(" ")} `.includes(` ${query.join(" ")} `);

  const pages = Object.entries(window.bookExcerpts).map(([name, [title, sections]]) => ({
    name, title, titled: said(title),
    sections: sections.map(([anchor, heading, text]) => ({ anchor, heading, text, headed: said(heading), words: said(text) })),
  }));

  /** The worth of a section for a query; of words that stand on most pages each counts little. */
  function worth(section, query, rare) {
    const each = query.map((word) => {
      const headed = Math.min(1, count(word, section.headed)) / Math.sqrt(Math.max(1, section.headed.length / 3));
      return rare.get(word) * (4 * headed + Math.log2(1 + count(word, section.words)));
    });
    const found = each.filter(Boolean).length / query.length;
    const together = 6 * phrase(query, section.headed) + 3 * phrase(query, section.words);
    return (each.reduce((sum, one) => sum + one, 0) + together) * found ** 2;
  }

  function ranked(query) {
    const having = (word) => pages.filter((page) => page.sections.some((one) => count(word, one.words) + count(word, one.headed) >= 1)).length;
    const rare = new Map(query.map((word) => [word, Math.log(1 + pages.length / (1 + having(word)))]));
    return pages.map((page) => {
      const sections = page.sections.map((section) => ({ ...section, worth: worth(section, query, rare) })).sort((one, other) => other.worth - one.worth);
      const titled = query.reduce((sum, word) => sum + rare.get(word) * Math.min(1, count(word, page.titled)), 0) / Math.sqrt(page.titled.length || 1);
      const deep = sections.reduce((sum, one, at) => sum + one.worth / (at + 1), 0);
      const whole = deep + 14 * titled + 20 * phrase(query, page.titled);
      return { ...page, best: sections[0], worth: sections[0]?.worth || titled ? whole * (REPEATS.test(page.name) ? 0.4 : page.name.startsWith("api/") ? 0.6 : 1) : 0 };
    }).filter((page) => page.worth > 0).sort((one, other) => other.worth - one.worth);
  }

  /** The text around the first word of the query, with every one of them marked. */
  function excerpt(text, query) {
    const parts = text.split(/([\p{L}\p{N}@]+(?:[-_][\p{L}\p{N}]+)*)/u);
    const hit = (part, at) => at % 2 === 1 && said(part).some((word) => query.some((one) => word.startsWith(one)));
    const first = parts.slice(0, Math.max(0, parts.findIndex(hit))).join("").length;
    const start = first > 100 ? text.lastIndexOf(" ", first - 80) + 1 : 0;
    const told = element("p", { className: "context" }, start ? "\u2026 " : "");
    let at = 0;
    parts.forEach((part, number) => {
      if (at >= start && at < start + LONGEST) told.append(hit(part, number) ? element("strong", { textContent: part }) : part);
      at += part.length;
    });
    if (at > start + LONGEST) told.append(" \u2026");
    return told;
  }

  function show(typed) {
    const query = asked(typed);
    const found = query.length ? ranked(query).slice(0, 30) : [];
    const summary = query.length ? (found.length ? `${found.length} pages found, the best first.` : "Nothing was found. Try another word.") : "";
    const list = element("ol", { className: "search" }, ...found.map((page) => {
      const address = `${page.name}.html`;
      const item = element("li", {}, element("a", { href: address, textContent: page.title }));
      const { anchor, heading, text, worth: good } = page.best;
      if (good && anchor) item.append(element("span", {}, " \u203a ", element("a", { href: `${address}#${anchor}`, textContent: heading })));
      if (good && text) item.append(excerpt(text, query));
      return item;
    }));
    document.querySelector("#search-results").replaceChildren(element("p", { className: "search-summary", role: "status", textContent: summary }), list);
  }

  const field = document.querySelector(".bd-search-container input");
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.addEventListener("input", () => show(field.value));
  show(field.value);
})();
