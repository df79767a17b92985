/* What all figures have in common: sliders, handles, the state (on the element, in the address, in the model), a polite
   voice, the theme, motion. A figure is `rankedu.figures[name] = ({ el, model, ranks, ui }) => …` in its own file. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.ui = (() => {
  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const inside = (text) => String(text).replace(/[&<>"]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one]);

  /** The text of an SVG element: tag("circle", { cx: 1 }) or tag("text", { x: 1 }, "words"). */
  const tag = (name, values, words = "") =>
    `<${name} ${Object.entries(values).map(([key, value]) => `${key}="${inside(typeof value === "number" ? +value.toFixed(2) : value)}"`).join(" ")}>${inside(words)}</${name}>`;

  /** A linear scale from [a, b] to [c, d]; `scale.back` is its inverse. */
  function scale([a, b], [c, d]) {
    const there = (value) => c + ((value - a) / (b - a)) * (d - c);
    there.back = (value) => a + ((value - c) / (d - c)) * (b - a);
    return there;
  }

  /** A number in words: at most three digits that say something, with a minus sign. */
  const number = (value, digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0) => value.toFixed(digits).replace("-", "−");

  /** An item of a list: a relevant one is a blue disc, an irrelevant one a red square, and its name is on it. */
  const item = (x, y, relevant, name, r = 16) =>
    (relevant ? tag("circle", { cx: x, cy: y, r, class: "yes" }) : tag("rect", { x: x - 0.88 * r, y: y - 0.88 * r, width: 1.76 * r, height: 1.76 * r, class: "no" })) +
    tag("text", { x, y: y + 5, "text-anchor": "middle", class: relevant ? "on" : "no" }, name);

  /** What a disc and a square mean, in 154 pixels around `x`. */
  const key = (x, y) =>
    tag("circle", { cx: x - 72, cy: y - 4, r: 5, class: "yes" }) + tag("text", { x: x - 63, y, class: "soft" }, "relevant") +
    tag("rect", { x: x + 1, y: y - 8.5, width: 9, height: 9, class: "no" }) + tag("text", { x: x + 15, y, class: "soft" }, "irrelevant");

  /**
   * Metrics and their values as bars, the first in bold: in a column at `x`, or, where `x` is 0, in rows as wide as the
   * figure. A stroke marks the value that each had `before`.
   */
  const bars = (metrics, width, x, y, before = []) =>
    metrics.map(([name, value], row) => {
      const line = y + row * (x ? 39 : 19), kind = row ? "" : "bold";
      const [from, to, at] = x ? [x, width, line + 9] : [120, width - 44, line - 4];
      const bar = (share, looks) => tag("line", { x1: from, x2: from + share * (to - from), y1: at, y2: at, class: looks });
      const then = from + (before[row] ?? value) * (to - from);
      return [
        tag("text", { x, y: line, class: kind }, name), tag("text", { x: width, y: line, "text-anchor": "end", class: kind }, number(value)),
        bar(1, "track"), value ? bar(value, row ? "track full" : "track full mean") : "",
        Math.abs((before[row] ?? value) - value) > 0.004 ? tag("line", { x1: then, x2: then, y1: at - 7, y2: at + 7, class: "line" }) : "",
      ].join("");
    }).join("");

  /** An arrow from one point to another; `kind` is the class of its line. */
  function arrow(x1, y1, x2, y2, kind = "", head = 6) {
    const far = Math.hypot(x2 - x1, y2 - y1);
    if (far < 1) return "";
    const [u, v] = [(x2 - x1) / far, (y2 - y1) / far];
    const barb = (side) => `${(x2 - head * (u + 0.6 * side * v)).toFixed(1)},${(y2 - head * (v - 0.6 * side * u)).toFixed(1)}`;
    return tag("path", { d: `M${x1},${y1} L${x2},${y2} M${barb(1)} L${x2},${y2} L${barb(-1)}`, class: `line ${kind}` });
  }

  /** Places for labels: in the order of `places`, at least `gap` from each other, from `low` to `high`. */
  function apart(places, gap, low, high) {
    const sorted = [...places.keys()].sort((i, j) => places[i] - places[j] || i - j);
    const found = [...places];
    sorted.forEach((i, k) => (found[i] = Math.max(found[i], k ? found[sorted[k - 1]] + gap : low)));
    sorted.reverse().forEach((i, k) => (found[i] = Math.min(found[i], k ? found[sorted[k - 1]] - gap : high)));
    return found;
  }

  /** The slopes of a function of scores, by central differences. */
  const slopes = (height, y, by = 1e-6) =>
    y.map((_, i) => {
      const [above, below] = [by, -by].map((side) => height(y.map((score, k) => (k === i ? score + side : score))));
      return (above - below) / (2 * by);
    });

  /** Which steps of a row are long enough to be drawn as arrows in a row `tall` pixels high. */
  function drawn(steps, tall) {
    const longest = Math.max(...steps.map(Math.abs));
    return steps.map((step) => longest > 1e-6 && (Math.abs(step) * (tall / 2 - 1)) / longest >= 1);
  }

  /**
   * Below a list whose items lie at height `top`, a column for each item in the order of the ranks, the best at the
   * right, and below each other rows of arrows, up for what a step raises. A row has a title, a note and for each item a
   * step, and `says` writes its number; its longest arrow is as long as that of any other row. Returns marks and height.
   */
  function pushes(width, top, axis, { scores, places, names, relevant, rows, says = null, tall = 42 }) {
    const wide = width > 560, n = scores.length, left = wide ? 170 : 0;
    const column = scale([n + 0.5, 0.5], [left, width]);
    const marks = places.map((place, i) => tag("path", { d: `M${axis(scores[i])},${top + 18} C${axis(scores[i])},${top + 40} ${column(place)},${top + 28} ${column(place)},${top + 52}`, class: "axis" }));
    places.forEach((place, i) => marks.push(tag("text", { x: column(place), y: top + 67, "text-anchor": "middle", class: relevant[i] ? "bold" : "no" }, names[i])));
    let base = top + 74;
    for (const { title, note, steps } of rows) {
      const longest = Math.max(...steps.map(Math.abs)), pushed = drawn(steps, tall);
      base += wide ? tall / 2 + 6 : tall / 2 + 22;
      const [high, low] = wide ? [base - 3, base + 15] : [base - tall / 2 - 4, base - tall / 2 - 4];
      marks.push(tag("text", { x: 0, y: high, class: "bold" }, title));
      marks.push(tag("text", { x: wide ? 0 : width, y: low, class: "soft", "text-anchor": wide ? "start" : "end" }, note));
      marks.push(tag("line", { x1: left, x2: width, y1: base, y2: base, class: "axis" }));
      steps.forEach((step, i) => {
        const x = column(places[i]), far = (-(tall / 2 - 1) * step) / longest, kind = relevant[i] ? "yes" : "down";
        const side = Math.min(8, Math.abs(far)), head = side * Math.sign(far), shaft = Math.min(3, side / 2);
        if (!pushed[i]) marks.push(tag("circle", { cx: x, cy: base, r: 2.5, class: "still" }));
        else marks.push(tag("path", { d: `M${x - shaft},${base} V${base + far - head} H${x - side} L${x},${base + far} L${x + side},${base + far - head} H${x + shaft} V${base} Z`, class: kind }));
        if (says && longest > 1e-6) marks.push(tag("text", { x, y: far < 0 ? base + 14 : base - 5, "text-anchor": "middle", class: "soft" }, says(step)));
      });
      base += tall / 2;
    }
    return [marks.join(""), base + 8];
  }

  function element(name, values = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(values)) key in made ? (made[key] = value) : made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  /**
   * Set a figure up. `start` is the state that it opens in and all that the address keeps; `draw(state, width)` draws it
   * in CSS pixels whenever the state, the width or the theme changes, and returns what a reader without the picture is
   * given; `shown(state)` adds to `data-state` what follows from the state.
   */
  function figure({ el, model, name, start, draw, shown = () => ({}) }) {
    const stage = element("div", { className: "play-stage" });
    const controls = element("div", { className: "play-controls" });
    const seenWords = element("p", { className: "play-words", ariaHidden: "true" });
    const voice = element("p", { className: "play-voice", role: "status" }); // the same, once the hand rests
    el.classList.add("play");
    el.dataset.figure = name;
    el.setAttribute("data-lm-suppress-shortcuts", "true"); // of JupyterLab
    el.append(element("div", { className: "play-here" }, stage, controls, seenWords, voice));
    const asked = el.querySelector("figcaption");
    if (asked && matchMedia("(pointer: coarse)").matches) asked.innerHTML = asked.innerHTML.replace(/\b([Cc])lick( on)?\b/g, (_, c) => (c === "C" ? "Tap" : "tap"));
    const state = structuredClone(start);
    Object.assign(state, model?.get("state"));
    const listeners = [];
    let wanted = 0, keeping = 0, speaking = 0, words = "";

    function render() {
      wanted = 0;
      const width = stage.clientWidth;
      if (!width) return;
      seenWords.textContent = words = draw(state, width);
      el.dataset.state = JSON.stringify({ ...state, ...shown(state) });
      listeners.forEach((listener) => listener());
    }

    /** Keep the state where the reader can find it again, and say what is seen, once the hand rests. */
    function keep() {
      const changed = Object.keys(start).filter((key) => JSON.stringify(state[key]) !== JSON.stringify(start[key]));
      const text = new URLSearchParams(changed.map((key) => [key, JSON.stringify(state[key])])).toString();
      if (el.id)
        try {
          history.replaceState(history.state, "", `#${el.id}${text ? `?${text}` : ""}`);
        } catch {
          // a browser that takes only so many addresses in a minute
        }
      model?.set("state", { ...state });
      model?.save_changes();
    }

    function set(changes, { kept = true } = {}) {
      Object.assign(state, changes);
      wanted ||= requestAnimationFrame(render);
      if (!kept) return;
      clearTimeout(keeping);
      keeping = setTimeout(keep, 250);
      clearTimeout(speaking);
      speaking = setTimeout(() => (voice.textContent = words), 600);
    }

    function restore() {
      const [id, text] = decodeURI(location.hash).slice(1).split("?");
      if (!el.id || id !== el.id || !text) return;
      for (const [key, value] of new URLSearchParams(text))
        if (key in start)
          try {
            const read = JSON.parse(value);
            if (typeof read === typeof start[key] && Array.isArray(read) === Array.isArray(start[key])) state[key] = read;
          } catch {
            // an address that somebody typed
          }
      wanted ||= requestAnimationFrame(render);
    }

    /**
     * A continuous slider for a number of the state, its label above a track as wide as the figure. `log`: equal steps
     * multiply; `powers`: only powers of two; `ends`: words below both ends of the track; `invites`: it pulses until moved.
     */
    function slider(key, { label, low, high, log = false, powers = false, step = 0, format = number, ends = [], change, invites = false }) {
      const to = powers ? Math.log2 : log ? Math.log : Number;
      const from = powers ? (value) => 2 ** value : log ? Math.exp : Number;
      const id = `${name}-${key}-${Math.random().toString(36).slice(2, 8)}`;
      const [first, last] = [to(low), to(high)];
      const input = element("input", {
        type: "range", id, min: first, max: last, step: powers ? 1 : step || (last - first) / 1000,
      });
      const output = element("output", { htmlFor: id });
      input.classList.toggle("invites", invites);
      input.addEventListener("input", () => {
        input.classList.remove("invites");
        let value = clamp(from(input.valueAsNumber), low, high);
        if (!powers && !step) value = Number(value.toPrecision(4));
        set(change ? change(value) : { [key]: value });
      });
      input.addEventListener("keydown", (event) => {
        // A hundredth of the track a key, a tenth with Page Up and Page Down.
        const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
        if (!by || powers || step) return;
        event.preventDefault();
        input.value = clamp(input.valueAsNumber + (by * (last - first)) / 100, first, last);
        input.dispatchEvent(new Event("input"));
      });
      listeners.push(() => {
        if (Math.abs(from(input.valueAsNumber) / state[key] - 1) > 1e-3 || !state[key]) input.value = to(state[key]);
        output.value = format(state[key]);
        input.setAttribute("aria-valuetext", format(state[key]));
        input.style.setProperty("--at", (input.valueAsNumber - first) / (last - first));
      });
      controls.append(
        element(
          "div",
          { className: "play-slider" },
          element("label", { htmlFor: id }, label), output, input,
          ...ends.map((word) => element("span", { ariaHidden: "true" }, word)),
        ),
      );
      return input;
    }

    /** A button that does something; or, with `pressed(state)`, one that is down or up. */
    function button(words, act, pressed) {
      const made = element("button", { type: "button" });
      made.addEventListener("click", () => act(made));
      listeners.push(() => {
        made.textContent = typeof words === "function" ? words(state) : words;
        if (pressed) made.ariaPressed = String(pressed(state));
      });
      let row = controls.querySelector(".play-buttons");
      if (!row) controls.append((row = element("div", { className: "play-buttons" })));
      row.append(made);
      return made;
    }

    /** A picture in SVG that is drawn anew from text; what is taken hold of stays in it. */
    function svg(height) {
      const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      made.innerHTML = '<g class="marks"></g><g class="handles"></g>';
      made.setAttribute("role", "group");
      stage.append(made);
      const [marks, handles] = made.children;
      return {
        node: made, handles,
        draw(width, content, says, high = height) {
          made.setAttribute("viewBox", `0 0 ${width} ${high}`);
          made.style.height = `${high}px`;
          made.ariaLabel = says;
          marks.innerHTML = content;
        },
      };
    }

    /**
     * A handle in an SVG: what a finger of 44 pixels can drag and arrow keys can move. `move({ x, y })` hears where it
     * is dragged to, `by(dx, dy)` which key was pressed, `tap()` that it was clicked on, or Enter pressed;
     * `at(x, y, label, text, now)` puts it somewhere.
     */
    function handle(picture, { move, by, tap, radius = 22 }) {
      const made = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      const set = (values) => Object.entries(values).forEach(([key, value]) => made.setAttribute(key, value));
      set({ r: radius, class: "play-handle", tabindex: 0, role: "slider" });
      picture.handles.append(made);
      const where = (event) => {
        const box = picture.node.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
      };
      let [held, moved] = [null, false];
      made.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        event.preventDefault();
        const far = (one) => Math.hypot(one.cx.baseVal.value - where(event).x, one.cy.baseVal.value - where(event).y);
        const nearest = [...picture.handles.children].reduce((best, one) => (far(one) < far(best) ? one : best), made);
        if (nearest !== made) return nearest.dispatchEvent(new PointerEvent("pointerdown", event)); // where handles overlap
        made.focus({ preventScroll: true });
        made.setPointerCapture(event.pointerId);
        const { x, y } = where(event);
        held = { x: x - made.cx.baseVal.value, y: y - made.cy.baseVal.value, from: [x, y] };
        moved = false;
      });
      made.addEventListener("pointermove", (event) => {
        if (!held) return;
        const { x, y } = where(event);
        moved ||= Math.hypot(x - held.from[0], y - held.from[1]) > 3;
        if (moved) move({ x: x - held.x, y: y - held.y });
      });
      made.addEventListener("touchmove", (event) => event.preventDefault(), { passive: false }); // or the page would scroll
      ["pointerup", "pointercancel"].forEach((over) => made.addEventListener(over, () => (held = null)));
      if (tap) made.addEventListener("click", () => moved || tap());
      made.addEventListener("keydown", (event) => {
        if (tap && (event.key === "Enter" || event.key === " ")) {
          event.preventDefault();
          return tap();
        }
        const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1], PageDown: [-5, -5], PageUp: [5, 5] }[event.key];
        if (!way) return;
        event.preventDefault();
        by(...way);
      });
      return {
        node: made,
        at: (x, y, label, text, now, low = 0, high = 1) =>
          set({ cx: x, cy: y, "aria-label": label, "aria-valuetext": text, "aria-valuenow": now, "aria-valuemin": low, "aria-valuemax": high }),
      };
    }

    /**
     * The scores of the state as items on a line, which can be dragged, low scores at the left. Called with the width, the
     * height of the line and what is said of an item, it returns the marks and the scale.
     */
    function list(picture, names, relevant, { low = 0, high = 1, size = 16 } = {}) {
      let axis = null;
      const put = (i, score) => set({ scores: state.scores.map((old, k) => (k === i ? Number(clamp(score, low, high).toFixed(3)) : old)) });
      const handles = [...names].map((_, i) =>
        handle(picture, { move: ({ x }) => put(i, axis.back(x)), by: (dx, dy) => put(i, state.scores[i] + ((high - low) / 50) * (dx || dy)) }));
      return (width, y, says) => {
        axis = scale([low, high], [24, width - 24]);
        const held = (i) => handles[i].node === document.activeElement; // it lies on top
        const marks = [
          tag("text", { x: 0, y: y - 24, class: "soft" }, "low score"), tag("text", { x: width, y: y - 24, class: "soft", "text-anchor": "end" }, "high score"),
          key(width / 2, y - 24), tag("line", { x1: 0, x2: width, y1: y, y2: y, class: "axis" }),
          ...[...handles.keys()].sort((i, j) => held(i) - held(j)).map((i) => item(axis(state.scores[i]), y, relevant[i], size > 12 ? names[i] : "", size)),
        ];
        handles.forEach((one, i) => one.at(axis(state.scores[i]), y, `Item ${names[i]}`, `score ${number(state.scores[i])}, ${says(i)}`, state.scores[i], low, high));
        return [marks.join(""), axis];
      };
    }

    /**
     * The scores of the state as items on an upright line, the best at the top, which can be dragged. `tap(i)` hears of a
     * click, `take()` that an item is taken hold of. Called with the ends of the line, with what draws an item and with
     * what is said of it, it returns the marks and the scale.
     */
    function ladder(picture, names, { tap, take = () => undefined }) {
      let axis = null;
      const put = (i, score) => set({ scores: state.scores.map((old, k) => (k === i ? Number(clamp(score, 0, 1).toFixed(3)) : old)) });
      const handles = [...names].map((_, i) =>
        handle(picture, { move: ({ y }) => put(i, axis.back(y)), by: (dx, dy) => put(i, state.scores[i] + 0.02 * (dy || dx)), tap: () => tap(i) }));
      handles.forEach(({ node }) => ["pointerdown", "focus"].forEach((kind) => node.addEventListener(kind, take)));
      return (top, bottom, mark, says) => {
        axis = scale([1, 0], [top + 16, bottom - 16]);
        const held = (i) => handles[i].node === document.activeElement; // it lies on top
        const marks = [
          tag("text", { x: 0, y: top - 10, class: "soft" }, "score"), tag("line", { x1: 22, x2: 22, y1: top, y2: bottom, class: "axis" }),
          ...[...handles.keys()].sort((i, j) => held(i) - held(j)).map((i) => mark(22, axis(state.scores[i]), i)),
        ];
        handles.forEach((one, i) => one.at(22, axis(state.scores[i]), `Item ${names[i]}`, says(i), state.scores[i]));
        return [marks.join(""), axis];
      };
    }

    /** The colour of a CSS variable of figures.css, as it is in this theme. */
    const colour = (variable) => getComputedStyle(el).getPropertyValue(`--play-${variable}`).trim();

    /** A canvas of the stage's width, sharp on any screen; returns its context. */
    function canvas() {
      const made = element("canvas", { ariaHidden: "true" });
      stage.append(made);
      return (width, height) => {
        const dense = window.devicePixelRatio || 1;
        if (made.width !== Math.round(width * dense) || made.height !== Math.round(height * dense)) {
          [made.width, made.height] = [Math.round(width * dense), Math.round(height * dense)];
          made.style.height = `${height}px`; // its width is that of the stage: a fixed one would keep the stage from shrinking
        }
        const context = made.getContext("2d");
        context.setTransform(dense, 0, 0, dense, 0, 0);
        context.clearRect(0, 0, width, height);
        return context;
      };
    }

    let seen = 0;
    new ResizeObserver(() => {
      if (stage.clientWidth === seen) return;
      seen = stage.clientWidth;
      wanted ||= requestAnimationFrame(render);
    }).observe(stage);
    new MutationObserver(() => (wanted ||= requestAnimationFrame(render))).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    window.addEventListener("hashchange", restore);
    model?.on?.("change:state", () => {
      Object.assign(state, model.get("state"));
      wanted ||= requestAnimationFrame(render);
    });
    const here = { el, stage, controls, state, set, slider, button, svg, handle, list, ladder, canvas, colour };
    el.play = here; // for tests, and for readers who open the console
    // Before the page is painted, so that nothing jumps; and not at a frame, which a page behind another is not given.
    queueMicrotask(() => {
      restore();
      render();
    });
    return here;
  }

  /** Call `now` once when the figure is first in sight: a figure moves before it is asked. */
  function inSight(el, now) {
    const watch = new IntersectionObserver(([seen]) => {
      if (!seen.isIntersecting) return;
      watch.disconnect();
      now();
    }, { threshold: 0.4 });
    watch.observe(el);
  }

  /** The first time that a figure is in sight, it runs by itself for so long: `at(share)` hears how far it is, from 0 to 1. */
  function runsOnce(el, play, milliseconds, at) {
    let over = false;
    ["pointerdown", "keydown"].forEach((touched) => el.addEventListener(touched, () => ((over = true), at(1))));
    inSight(el, () => {
      if (over || still() || location.hash.includes(el.id || "no id")) return;
      const began = performance.now();
      requestAnimationFrame(function go(now) {
        if (over) return;
        const share = clamp((now - began) / milliseconds, 0, 1);
        at(share);
        play.set({}, { kept: false });
        if (share < 1) requestAnimationFrame(go);
      });
    });
  }

  /** Start all figures of a page, each by the function of its name. */
  function start() {
    const { ranks, ui, figures } = rankedu;
    document.querySelectorAll("figure.play").forEach((el) => {
      figures[el.dataset.figure]?.({ el, model: null, ranks, ui });
    });
  }

  return { figure, tag, scale, number, slopes, item, key, bars, arrow, apart, drawn, pushes, element, clamp, still, inSight, runsOnce, start };
})();

if (document.querySelector("figure.play")) {
  if (document.readyState === "complete") rankedu.ui.start();
  else document.addEventListener("DOMContentLoaded", rankedu.ui.start);
}
