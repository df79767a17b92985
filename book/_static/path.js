/* A reading path that was chosen leads on: a bar on its pages names the step and the next one, and what was read and
   predicted is marked. All of it is kept in this browser alone. What paths there are: paths.js, made by
   book/tools/site/reading.py. */
"use strict";

(() => {
  const { ways, pages } = window.bookPaths;
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location);
  const steps = new Set(ways.flatMap((way) => way.steps.map((step) => step.address)));
  const pageOf = (address) => address.split("#")[0];

  const { element, storage } = window.book;
  /** Where a link leads, as the paths write it: from the root, with a section only where that is a step. */
  function addressOf(link) {
    const url = new URL(link.href, location);
    const page = url.pathname.slice(root.pathname.length) || "index.html";
    return steps.has(page + url.hash) ? page + url.hash : page;
  }
  const here = pageOf(addressOf(location));

  const readSoFar = () => new Set(JSON.parse(storage.read("rankedu:read") ?? "[]"));
  const isRead = (address, all = readSoFar()) => all.has(address) || all.has(pageOf(address));
  function markRead(address) {
    if (isRead(address)) return;
    storage.write("rankedu:read", JSON.stringify([...readSoFar(), address]));
    showMarks();
  }

  /** How many predictions of a page were answered; predict.js keeps one that was skipped with a mark of its own. */
  function answered(page) {
    const name = new URL(page, root).pathname.split("/").slice(-2).join("/");
    try {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(`rankedu:prediction:${name}:`));
      return keys.filter((key) => storage.read(key) !== "\u0000").length;
    } catch {
      return 0;
    }
  }

  const chosen = () => ways.find((way) => way.name === storage.read("rankedu:path"));
  function choose(way) {
    storage.write("rankedu:path", way?.name ?? null);
    showChoices();
    showBar();
  }

  /** The step of a path at which the reader is: the section in the address, else the first that was not read. */
  function stepHere(way) {
    const at = (test) => way.steps.findIndex((step) => pageOf(step.address) === here && test(step.address));
    const found = [at((address) => address === here + location.hash), at((address) => !isRead(address)), at(() => true)];
    return found.find((index) => index >= 0) ?? -1;
  }
  const link = (step, ...text) => element("a", { href: new URL(step.address, root).href }, ...text);

  function showBar() {
    document.querySelector(".path-bar")?.remove();
    const way = chosen();
    const at = way ? stepHere(way) : -1;
    if (at < 0) return;
    const [now, next] = [way.steps[at], way.steps[at + 1]];
    const name = element("a", { href: new URL(`index.html#path-${way.name}`, root).href, textContent: way.title });
    const count = element("span", { textContent: `step ${at + 1} of ${way.steps.length}` });
    const place = element("span", { className: "path-step" }, name, count);
    const onward = next
      ? link(next, `Next: ${next.title} (${next.minutes}\u00a0min)`)
      : element("a", { href: name.href, textContent: "The last step: choose what comes next" });
    onward.className = "path-next";
    onward.addEventListener("click", () => markRead(now.address));
    const leave = element("button", { type: "button", textContent: "Leave", ariaLabel: `Leave the path ${way.title}` });
    leave.addEventListener("click", () => {
      choose(null);
      document.querySelector("#main-content")?.focus();
    });
    const bar = element("nav", { className: "path-bar", ariaLabel: "Reading path" }, place, onward, leave);
    document.querySelector(".bd-article-container").append(bar);
  }

  /** What is known of a page or a section, in words. */
  function marksOf(address, all) {
    const page = pages[address];
    const count = page?.predictions ? answered(address) : 0;
    return [
      count ? `${count} of ${page.predictions} predicted` : "",
      isRead(address, all) ? "read\u00a0\u2713" : "",
    ].filter(Boolean);
  }

  function showMarks() {
    document.querySelectorAll(".path-mark").forEach((mark) => mark.remove());
    const all = readSoFar();
    const show = (place, marks, before) =>
      marks.length && place.append(element("span", { className: "path-mark", textContent: before + marks.join(" \u00b7 ") }));
    document.querySelectorAll(".bd-links li > a").forEach((one) => show(one, marksOf(addressOf(one), all), " "));
    document.querySelectorAll("details[id^=path-] ol a").forEach((one) =>
      show(one.parentElement, marksOf(addressOf(one), all), " \u00b7 "));
    const forget = document.querySelector(".path-forget");
    if (forget) forget.hidden = !all.size;
  }

  /** On the front page: each path can be taken, gone on with, and left; and what was marked can be forgotten. */
  function showChoices() {
    document.querySelectorAll(".path-choice").forEach((one) => one.remove());
    for (const way of ways) {
      const fold = document.getElementById(`path-${way.name}`);
      if (here !== "index.html" || !fold) continue;
      const mine = way === chosen();
      const row = element("p", { className: "path-choice" });
      const take = element("button", { type: "button", textContent: mine ? "Leave this path" : "Take this path" });
      take.addEventListener("click", () => {
        choose(mine ? null : way);
        fold.querySelector(".path-choice button").focus();
      });
      if (mine) {
        const next = way.steps.findIndex((step) => !isRead(step.address));
        const step = way.steps[Math.max(next, 0)];
        row.append(link(step, next < 0 ? "All read: begin again" : `Go on with step ${next + 1}: ${step.title}`));
        fold.open = true;
      }
      row.append(take);
      fold.querySelector("ol").after(row);
    }
  }

  function offerToForget() {
    const last = [...document.querySelectorAll("details[id^=path-]")].at(-1);
    if (here !== "index.html" || !last) return;
    const forget = element("button", { type: "button", className: "path-forget", textContent: "Forget what I have read" });
    forget.addEventListener("click", () => {
      storage.write("rankedu:read", null);
      showMarks();
      showChoices();
    });
    last.after(forget);
  }

  /** The end of a step, from the top of the window: that of its section, or where the exercises of a page begin. */
  function endOf(address) {
    const [, section] = address.split("#");
    if (section) return document.getElementById(section)?.closest("section")?.getBoundingClientRect().bottom;
    const later = document.querySelector("section#exercises, section#self-test");
    return later?.getBoundingClientRect().top ?? document.querySelector(".bd-article")?.getBoundingClientRect().bottom;
  }

  /** A step is read when its end comes into view from below; to jump beyond it is not to read it. */
  let before = window.scrollY;
  let moving = false; // by the reader's hand: a page that is still being laid out moves by itself
  for (const event of ["pointermove", "pointerdown", "touchstart", "wheel", "keydown"])
    window.addEventListener(event, () => (moving = true), { once: true, passive: true });
  function follow() {
    const moved = window.scrollY - before;
    before = window.scrollY;
    if (!moving || moved <= 0 || moved > 1.5 * window.innerHeight) return;
    for (const address of [...steps, here].filter((one) => pageOf(one) === here && (one !== here || pages[here]))) {
      const end = endOf(address);
      if (end <= window.innerHeight && end + moved > window.innerHeight) markRead(address);
    }
  }

  const showAll = () => [showChoices, showMarks, showBar].forEach((show) => show());
  offerToForget();
  showAll();
  window.addEventListener("scroll", follow, { passive: true });
  window.addEventListener("hashchange", showBar);
  window.addEventListener("storage", showAll); // another tab
  window.addEventListener("pageshow", (event) => event.persisted && showAll()); // back from another page
  for (const event of ["submit", "click"])
    document.addEventListener(event, ({ target }) => target.closest?.(".prediction") && setTimeout(showMarks));
})();
