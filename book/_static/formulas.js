/* Formulas that are wider than their column go on in the next line: after a wide space, before a
   relation and, where that is not enough, before a + or −, within brackets last of all. What still
   is too wide scrolls in its own box, and fades at the side where more follows. MathJax sets each
   formula as a row of boxes; here the row gets boxes of boxes, and where a line ends is left to
   the browser. */
"use strict";

(() => {
  const OPEN = /\bmjx-c(28|5B|7B|27E8|230A|2308)\b/;
  const CLOSE = /\bmjx-c(29|5D|7D|27E9|230B|2309)\b/;
  const LONG = 9; // boxes in a formula within a line of text: a shorter one fits
  const sign = (box, space) => box.localName === "mjx-mo" && box.getAttribute("space") === space;
  const wide = (box) => parseFloat((box.querySelector("mjx-mspace") ?? box).style.width) >= 1; // em

  /* The sign that a box is, or that an index is put to. */
  const bare = (box) => (/^mjx-(texatom|msub|msup|msubsup)$/.test(box.localName) ? bare(box.firstElementChild) : box);
  /* How deep in brackets each box of the row stands. */
  const depths = (row) => {
    let depth = 0;
    return row.map((box) => {
      const glyph = bare(box).localName === "mjx-mo" ? box.querySelector("mjx-c")?.className ?? "" : "";
      if (CLOSE.test(glyph)) depth -= 1;
      const here = depth;
      if (OPEN.test(glyph)) depth += 1;
      return here;
    });
  };
  /* Puts the boxes of a row into boxes of their own, which begin where the first rule says, and in them by the next. */
  const boxed = (row, [begins, ...rules]) => {
    if (!begins) return row;
    const starts = row.flatMap((box, i) => (i === 0 || begins(box, row[i - 1]) ? [i] : []));
    return starts.map((start, k) => {
      const made = document.createElement("mjx-mrow");
      made.className = rules.length ? "divided" : "whole";
      made.append(...boxed(row.slice(start, starts[k + 1]), rules));
      return made;
    });
  };
  /* The one box that holds all others of a formula, such as \textstyle. */
  const inner = (box) => (box.children.length === 1 && box.firstElementChild.localName === "mjx-mstyle" ? inner(box.firstElementChild) : box);
  const divide = (formula) => {
    const row = [...formula.children];
    const depth = new Map(depths(row).map((deep, i) => [row[i], deep]));
    const before = (space, inside) => (box, last) =>
      depth.get(box) > 0 === inside && sign(box, space) && !sign(last, space);
    formula.append(...boxed(row, [(_, last) => wide(last), before("4", false), before("3", false), before("3", true)]));
    formula.classList.add("divided");
  };

  const scroller = (container) => container.closest("span.math") ?? container;
  const hint = new ResizeObserver((entries) =>
    entries.forEach(({ target }) => more(scroller(target.closest("mjx-container") ?? target))));
  const ACCENT = 8; // pixels: an accent that leans out of its box is not cut off
  const more = (box) => box.toggleAttribute("data-more", box.scrollLeft + box.clientWidth < box.scrollWidth - ACCENT);
  const start = () => {
    const boxes = [...document.querySelectorAll("mjx-container > mjx-math")].map((whole) => {
      const [formula, container] = [inner(whole), whole.parentElement];
      const box = scroller(container);
      if (box === container || formula.children.length >= LONG) divide(formula);
      [box, whole].forEach((one) => hint.observe(one));
      box.addEventListener("scroll", () => more(box));
      return box;
    });
    // Letters that come late can make an accent lean out less, and no box another size.
    document.fonts.addEventListener("loadingdone", () => boxes.forEach(more));
    document.documentElement.dataset.formulas = "";
  };
  window.addEventListener("load", () => window.MathJax?.startup?.promise?.then(start));
})();
