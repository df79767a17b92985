/* Small comforts that the theme leaves out. No library, no network. */
"use strict";

(() => {
  // What scrolls in itself must be reachable by keyboard, or half of it is hidden from those without a mouse.
  const wide = ".bd-article table, .bd-article pre, .bd-article .math, mjx-container[display], .bd-article .cell_output .output";
  const reachable = () =>
    document.querySelectorAll(wide).forEach((element) => {
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
      if (scrolls && element.scrollWidth > element.clientWidth + 1) element.tabIndex = 0;
    });
  window.addEventListener("resize", reachable);
  window.addEventListener("load", () => {
    reachable();
    window.MathJax?.startup?.promise?.then(reachable);
  });

  // Paper is white, whatever the screen was.
  const root = document.documentElement;
  let kept = null;
  window.addEventListener("beforeprint", () => {
    kept = root.dataset.theme;
    root.dataset.theme = "light";
    for (const image of document.images) image.loading = "eager"; // what was not reached yet is printed too
  });
  window.addEventListener("afterprint", () => {
    root.dataset.theme = kept;
  });
})();
