/* Small comforts that the theme leaves out. No library, no network. */
"use strict";

(() => {
  // What scrolls in itself must be reachable by keyboard, or half of it is hidden from those without a mouse. The theme
  // looks once, a moment after the window changed, and on a slow machine the page does not have its width by then.
  const wide = ".bd-article table, .bd-article pre, .bd-article .formula, .bd-article span.math, .bd-article .cell_output .output";
  const reach = (element) => {
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    if (scrolls && element.scrollWidth > element.clientWidth + 1) element.tabIndex = 0;
  };
  window.addEventListener("load", () => {
    const sizes = new ResizeObserver((changed) => changed.forEach(({ target }) => reach(target)));
    document.querySelectorAll(wide).forEach((element) => sizes.observe(element));
  });

  // On a phone each row of a table of words is a card (look.css), whose parts have the names of the columns.
  for (const table of document.querySelectorAll(".bd-article table:not(.cards, .sentences):has(thead tr:only-child)")) {
    const heads = [...table.tHead.rows[0].cells], cells = [...table.tBodies[0].querySelectorAll("td")];
    if (heads.length < 3 || heads.some((one) => one.colSpan > 1) || !cells.some((one) => one.textContent.length > 40)) continue;
    table.classList.add("stacked");
    cells.forEach((one) => { one.dataset.head = heads[one.cellIndex].textContent; });
  }
  if (matchMedia("(hover: none)").matches) {
    for (const words of document.querySelectorAll(".play figcaption")) words.innerHTML = words.innerHTML.replace(/\bclick\b/gi, (one) => (one[0] === "C" ? "Tap" : "tap"));
  }

  // Pictures below the window come once the page is at rest, because a browser may print without waiting for them.
  const fetchPictures = () => [...document.images].forEach((image) => (image.loading = "eager"));
  if (!navigator.connection?.saveData) window.addEventListener("load", () => setTimeout(fetchPictures, 1000));

  // Paper is white, whatever the screen was.
  const root = document.documentElement;
  let kept = null;
  window.addEventListener("beforeprint", () => {
    kept = root.dataset.theme;
    root.dataset.theme = "light";
    fetchPictures(); // what was not reached yet is printed too
  });
  window.addEventListener("afterprint", () => {
    root.dataset.theme = kept;
  });
})();
