/* What surrounds a page: day and night, the menu, the contents, the search field, buttons that copy code. It takes the
   place of the theme's scripts and of Bootstrap, which weigh 100 KB. */
"use strict";

(() => {
  const root = document.documentElement;
  const { element, storage } = window.book;
  const all = (selector) => [...document.querySelectorAll(selector)];

  // Day and night: chosen here, or left to the system.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  function shine(mode) {
    root.dataset.mode = mode;
    root.dataset.theme = mode === "auto" ? (dark.matches ? "dark" : "light") : mode;
    storage.write("mode", mode);
    all(".theme-change-button").forEach((one) => one.classList.toggle("active", one.dataset.mode === mode));
  }
  shine(root.dataset.mode);
  dark.addEventListener("change", () => root.dataset.mode === "auto" && shine("auto"));
  all(".theme-change-button").forEach((one) => one.addEventListener("click", () => shine(one.dataset.mode)));

  // Menus of the buttons above the page.
  const menus = all("[data-bs-toggle=dropdown]");
  function unfold(button, open) {
    button.classList.toggle("show", open);
    button.setAttribute("aria-expanded", open);
    button.nextElementSibling.classList.toggle("show", open);
  }
  document.addEventListener("click", ({ target }) =>
    menus.forEach((one) => unfold(one, one.contains(target) && !one.classList.contains("show"))));
  document.addEventListener("keydown", ({ key }) => key === "Escape" && menus.forEach((one) => unfold(one, false)));

  // The search field: of the page where it has one, else in a window of its own.
  const dialog = document.querySelector("#pst-search-dialog");
  const field = document.querySelector(".bd-search-container input");
  function search() {
    if (field) field.select();
    else if (dialog.open) dialog.close();
    else dialog.showModal();
  }
  all(".search-button__button").forEach((one) => one.addEventListener("click", search));
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    search();
  });

  // The menu and the contents: beside the page where there is room, else in a window over it.
  function move(from, to) {
    to.append(...from.childNodes);
    to.classList.add(...from.classList);
    from.removeAttribute("class");
  }
  for (const name of ["primary", "secondary"]) {
    const [button, bar] = [document.querySelector(`.${name}-toggle`), document.querySelector(`#pst-${name}-sidebar`)];
    const over = document.querySelector(`#pst-${name}-sidebar-modal`);
    if (!button || !bar || !over) continue;
    button.addEventListener("click", () => {
      if (name === "primary" && matchMedia("(min-width: 992px)").matches) {
        bar.classList.toggle("pst-sidebar-hidden");
      } else {
        move(bar, over);
        over.showModal();
      }
    });
    over.addEventListener("close", () => {
      move(over, bar);
      button.focus();
    });
    over.addEventListener("click", ({ target }) => target.closest("a") && over.close());
  }
  all("dialog").forEach((one) => one.addEventListener("click", ({ target, clientX, clientY }) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    if (target === one && (clientX < left || clientX > right || clientY < top || clientY > bottom)) one.close();
  }));

  // The menu shows the page where the reader is; the contents show the section.
  const bar = document.querySelector(".bd-sidebar-primary");
  const here = bar?.querySelector("li.current.active > a, .active > a");
  if (here) {
    const beyond = here.getBoundingClientRect().top - bar.getBoundingClientRect().top - bar.clientHeight / 2;
    if (beyond > 0) bar.scrollTop = beyond;
  }
  const entries = new Map(all(".page-toc a[href^='#']").map((link) => [document.getElementById(link.hash.slice(1)), link]));
  const seen = new Set();
  const watch = new IntersectionObserver((changes) => {
    changes.forEach(({ target, isIntersecting }) => (isIntersecting ? seen.add(target) : seen.delete(target)));
    const now = [...entries.keys()].filter((section) => seen.has(section)).at(-1);
    if (now) entries.forEach((link, section) => link.classList.toggle("active", section === now));
  }, { rootMargin: "0px 0px -70% 0px" });
  entries.forEach((_, section) => section && watch.observe(section));
  new IntersectionObserver(([top]) => document.body.classList.toggle("scrolled", !top.isIntersecting)).observe(
    document.querySelector(".sbt-scroll-pixel-helper"));

  // On a phone the bar above the page makes room while one reads on, and comes back when one scrolls up.
  let before = scrollY;
  addEventListener("scroll", () => {
    if (Math.abs(scrollY - before) < 12) return;
    document.body.classList.toggle("reading-on", scrollY > before && scrollY > 200);
    before = scrollY;
  }, { passive: true });

  // Code can be copied; what a cell printed is not to be, and what becomes an editor has no button in it.
  for (const code of all("div:not(.output) > div.highlight > pre")) {
    if (code.closest("[data-exercise] .tag_exercise")) continue;
    const button = element("button", { type: "button", className: "copybtn", textContent: "Copy", ariaLabel: "Copy this code" });
    button.addEventListener("click", async () => {
      const text = code.cloneNode(true);
      text.querySelectorAll(".linenos, .gp, .go").forEach((one) => one.remove());
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    code.parentElement.append(button);
  }
})();
