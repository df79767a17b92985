/* Brings a live explorable to life: a question, handles that a mouse, a finger or the arrow keys move, buttons, and time.
   What is computed is none of its business: `solve` takes a state and returns a scene (marks.py), at once or later.
   In a page the page solves (below), in JupyterLab the kernel (widget.py). */
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const TICK = 33; // milliseconds from one step of an animation to the next
  const put = (element, attributes) => {
    for (const [name, value] of Object.entries(attributes))
      if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
    return element;
  };
  const write = (element, words) => {
    if (element.textContent !== words) element.textContent = words;
  };

  /* A scene that can be drawn has no number that is none; what else it may be is decided where it is made. */
  const sound = (scene) => {
    JSON.stringify(scene, (_, value) => {
      const bad = typeof value === "number" ? !Number.isFinite(value) : /(^|[\s,-])(nan|inf)\b/.test(value);
      if (bad && typeof value !== "object") throw new Error("a value is not a number");
      return value;
    });
    return scene;
  };

  /* The marks of the last scene become those of the next; an element is made anew only where its tag differs. */
  const patch = (layer, marks) => {
    marks.forEach(([tag, attributes, words], i) => {
      let element = layer.children[i];
      if (element?.tagName !== tag) {
        const made = document.createElementNS(SVG, tag);
        if (element) element.replaceWith(made);
        else layer.append(made);
        element = made;
      }
      put(element, attributes);
      write(element, words);
    });
    while (layer.children.length > marks.length) layer.lastChild.remove();
  };

  const live = (figure, solve) => {
    const find = (selector) => figure.querySelector(selector);
    const [svg, marks, controls] = ["svg", ".marks", ".explorable-controls"].map(find);
    const [told, says, trouble] = [".told", ".says", ".trouble"].map(find);
    const guesses = [...figure.querySelectorAll(".guess input")];
    const [fields, handles] = [0, 1].map(() => svg.appendChild(document.createElementNS(SVG, "g")));
    const knobs = []; // one for each handle of the scene, in its order; in the page they stand from left to right
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    const waiting = [];
    let shown = JSON.parse(find("script[type='application/json']").textContent);
    const first = shown;
    let busy = false;
    let held = null;
    let keeping = null;

    const show = (scene) => {
      shown = scene;
      put(svg, { viewBox: `0 0 480 ${scene.height}` });
      patch(marks, scene.marks);
      marks.setAttribute("aria-label", scene.says);
      while (knobs.length > scene.handles.length) [knobs.pop(), fields.lastChild].forEach((one) => one.remove());
      scene.handles.forEach((one, i) => showHandle((knobs[i] ??= newHandle(i)), one, fields.children[i]));
      guesses.forEach((one) => Object.assign(one, { checked: one.value === scene.state.guess, disabled: scene.ask.known }));
      const buttons = [...scene.buttons, { label: "Start anew", changes: first.state, pressed: null, locked: false }];
      buttons.forEach((one, i) => showButton((controls.children[i] ?? newButton()), one));
      while (controls.children.length > buttons.length) controls.lastChild.remove();
      write(told, scene.found);
      write(says, scene.says);
      [told, says].forEach((one) => put(one, { "aria-busy": Boolean(held || scene.state.playing) }));
      const state = (figure.dataset.state = JSON.stringify(scene.state));
      figure.classList.toggle("moved", state !== JSON.stringify(first.state)); // else the end is printed, live.css
    };

    /* A screen reader speaks of the picture when a handle is let go and at the end of a run. */
    const settle = () => {
      keep();
      if (held || shown.state.playing) return;
      [told, says].forEach((one) => put(one, { "aria-busy": false }));
      if (!handles.contains(document.activeElement)) handles.append(...inOrder());
    };
    /* Tab leads along a row from the left and down a column from the top, wherever the reader has moved what. */
    const inOrder = () => {
      const places = new Map(
        shown.handles.map(({ moves, x, y }, i) => {
          const group = shown.handles.findIndex((one) => one.moves[0].of === moves[0].of);
          return [knobs[i], [group, ...(moves.length === 1 && moves[0].axis === "x" ? [y, x] : [x, y])]];
        }),
      );
      const compare = (one, other) => one.map((value, i) => value - other[i]).find(Boolean) ?? 0;
      return [...knobs].sort((one, other) => compare(places.get(one), places.get(other)));
    };

    /* Changes that arrive while the answer to earlier ones is awaited are answered together. */
    const change = async (...changes) => {
      waiting.push(...changes);
      if (busy) return;
      busy = true;
      while (waiting.length) {
        const state = structuredClone(shown.state);
        waiting.splice(0).forEach((one) => one(state));
        try {
          let scene = sound(await solve(state));
          for (let n = 0; still.matches && scene.state.playing && n < 1000; n += 1)
            scene = sound(await solve({ ...scene.state, tick: true }));
          show(scene);
          trouble.hidden = true;
        } catch (error) {
          trouble.textContent = `The picture could not follow, and stands where it last could: ${error.message}.`;
          trouble.hidden = false;
          shown.state.playing = false;
        }
      }
      busy = false;
      clearTimeout(keeping);
      keeping = setTimeout(settle, 300);
      if (shown.state.playing && !figure.ticking) {
        figure.ticking = setTimeout(() => {
          figure.ticking = null;
          if (figure.isConnected && shown.state.playing) change((state) => (state.tick = true));
        }, TICK);
      }
    };

    const valueOf = (state, move) => (move.at === null ? state[move.of] : state[move.of][move.at]);
    const move = (handle, one, value) => (state) => {
      const inside = Math.min(Math.max(value(valueOf(state, one)), one.low), one.high);
      if (!Number.isFinite(inside)) return;
      Object.assign(state, handle.also);
      if (one.at === null) state[one.of] = inside;
      else state[one.of][one.at] = inside;
    };

    /* What the reader set, not what follows from it, is part of the page's address, `#explorable-name?lam=0.5&tip=1,2`,
       so that it can be kept and sent: the values that handles move, and the choices that they and buttons offer. */
    const moves = new Map();
    for (const one of first.handles.flatMap(({ moves: of }) => of)) moves.set(one.of, [...(moves.get(one.of) ?? []), one]);
    const choices = first.buttons.filter((one) => one.pressed !== null).map((one) => one.changes);
    const offers = [...first.handles.map((one) => one.also), ...choices, ...guesses.map((one) => ({ guess: one.value }))];
    const written = (value) =>
      [value].flat().map((one) => (typeof one === "number" ? Number(one.toFixed(4)) : one)).join(",");
    const keep = () => {
      if (!figure.id) return; // in JupyterLab the address is not ours
      const states = [...new Set([...moves.keys(), ...offers.flatMap(Object.keys)])]
        .map((name) => [name, written(shown.state[name])])
        .filter(([name, text]) => text !== written(first.state[name]));
      const address = `#${figure.id}${states.length ? "?" : ""}${new URLSearchParams(states)}`.replaceAll("%2C", ",");
      if (address === location.hash || (!states.length && !location.hash.startsWith(`#${figure.id}?`))) return;
      try {
        history.replaceState(history.state, "", address);
      } catch {
        // a browser that takes only so many addresses in a minute
      }
    };
    const restore = () => {
      const [id, states] = location.hash.slice(1).split("?");
      if (!figure.id || id !== figure.id || !states) return;
      const found = new URLSearchParams(states);
      change((state) => {
        Object.assign(state, structuredClone(first.state));
        for (const [name, value] of offers.flatMap(Object.entries)) if (found.get(name) === String(value)) state[name] = value;
        for (const [name, moving] of moves)
          (found.get(name)?.split(",") ?? []).forEach((text, i) => {
            const one = moving.find(({ at }) => at === i) ?? moving[0];
            const value = text.trim() ? Number(text) : NaN;
            if (!(value >= one.low && value <= one.high)) return;
            if (one.at !== null && i in state[name]) state[name][i] = value;
            else if (one.at === null && i === 0) state[name] = value;
          });
      });
      figure.scrollIntoView({ block: "center" });
    };

    const point = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    /* Where discs lie on one another, the handle whose centre is nearest is meant, and of two in one place the last held. */
    const nearest = (at) => {
      const last = knobs.indexOf(document.activeElement);
      const far = shown.handles.map((one, i) => Math.hypot(one.x - at.x, one.y - at.y) - 0.1 * (i === last));
      return far.indexOf(Math.min(...far));
    };
    const mark = (near) => knobs.forEach((one, i) => one.classList.toggle("near", i === near));
    const take = (event, i, x = 0, y = 0) => {
      if (event.button) return;
      held = { id: event.pointerId, i, x, y };
      handles.setPointerCapture(event.pointerId);
      knobs[i].focus({ preventScroll: true });
      event.preventDefault();
      change((state) => Object.assign(state, shown.handles[i].also));
    };
    const follow = (event, i, x, y) => {
      const handle = shown.handles[i];
      const at = point(event);
      at.x -= x;
      at.y -= y;
      change(
        ...handle.moves.map((one) => {
          const value = one.low + ((at[one.axis] - one.start) / (one.end - one.start)) * (one.high - one.low);
          return move(handle, one, () => value);
        }),
      );
    };
    handles.addEventListener("pointerdown", (event) => {
      const at = point(event);
      const i = nearest(at);
      take(event, i, at.x - shown.handles[i].x, at.y - shown.handles[i].y);
    });
    // A finger that holds a handle scrolls nothing; what CSS says of it within an svg is not heeded everywhere.
    handles.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    handles.addEventListener("pointermove", (event) => {
      if (held?.id === event.pointerId) follow(event, held.i, held.x, held.y);
      else mark(nearest(point(event)));
    });
    handles.addEventListener("pointerleave", () => mark(-1));
    ["pointerup", "pointercancel", "lostpointercapture"].forEach((name) =>
      handles.addEventListener(name, () => {
        held = null;
        change();
      }),
    );

    const newHandle = (i) => {
      const field = put(fields.appendChild(document.createElementNS(SVG, "rect")), { class: "field" });
      // A mouse holds it from there on; a finger that moves on scrolls the page.
      field.addEventListener("pointerdown", (event) => {
        if (event.pointerType !== "mouse" || event.button) return;
        take(event, i);
        follow(event, i, 0, 0);
      });
      field.addEventListener("click", (event) => follow(event, i, 0, 0));
      const made = handles.appendChild(document.createElementNS(SVG, "g"));
      put(made, { class: "handle", tabindex: 0, role: "slider" });
      for (const [kind, r] of [["reach", 17], ["knob", 13]])
        put(made.appendChild(document.createElementNS(SVG, "circle")), { class: kind, r });
      made.addEventListener("keydown", (event) => {
        const handle = shown.handles[i];
        const upright = ["ArrowUp", "ArrowDown"].includes(event.key);
        const one = handle.moves.find((other) => (other.axis === "y") === upright) ?? handle.moves[0];
        const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5 };
        const ends = { Home: one.low, End: one.high };
        if (!(event.key in steps) && !(event.key in ends)) return;
        event.preventDefault();
        event.stopPropagation();
        const step = ((steps[event.key] ?? 0) * (one.high - one.low)) / 50;
        change(move(handle, one, (value) => (event.key in ends ? ends[event.key] : value + step)));
      });
      return made;
    };
    const showHandle = (knob, handle, field) => {
      const [one] = handle.moves;
      const [x, y, width, height] = handle.field;
      put(field, { x, y, width, height });
      put(knob, {
        "data-handle": handle.name,
        transform: `translate(${handle.x} ${handle.y})`,
        "aria-label": handle.name,
        "aria-valuemin": one.low,
        "aria-valuemax": one.high,
        "aria-valuenow": Number(valueOf(shown.state, one).toFixed(3)),
        "aria-valuetext": handle.says,
        "aria-orientation": one.axis === "y" ? "vertical" : "horizontal",
      });
    };

    const newButton = () => {
      const made = controls.appendChild(document.createElement("button"));
      made.type = "button";
      return made;
    };
    const showButton = (button, one) => {
      write(button, one.label);
      button.disabled = one.locked;
      button.onclick = () => change((state) => Object.assign(state, structuredClone(one.changes)));
      if (one.pressed === null) button.removeAttribute("aria-pressed");
      else put(button, { "aria-pressed": one.pressed });
    };

    // Who would see at once, and has nothing else to choose, need not press a second time.
    const shows = guesses.length === 1 && "playing" in first.state ? { playing: true } : {};
    for (const one of guesses)
      one.addEventListener("change", () => change((state) => Object.assign(state, { guess: one.value }, shows)));
    [controls, find(".guess")].forEach((one) => one && (one.hidden = false));
    svg.removeAttribute("aria-label"); // what is drawn now has it
    svg.setAttribute("role", "group");
    marks.setAttribute("role", "img");
    show(shown);
    handles.append(...inOrder());
    restore();
    addEventListener("hashchange", restore);
  };

  /* In a page. What computes is fetched when a reader first touches an explorable. */
  const fetched = {};
  const fetchScript = (address) =>
    (fetched[address] ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = address;
      script.async = false; // they run in the order in which they are asked for
      script.onload = done;
      script.onerror = () => failed(new Error("its script did not load"));
      document.head.append(script);
    }));
  const inPage = (figure) => {
    const load = () => Promise.all(JSON.parse(figure.dataset.scripts).map(fetchScript));
    const { module, live: name } = figure.dataset;
    const solve = (state) => py.to(py.modules[module][name](py.from(state)));
    /* The first answers are slow, so they are given before one is asked for, and once: a press brings the focus, too. */
    const once = () => setTimeout(() => solve(JSON.parse(figure.dataset.state)));
    let warm = null;
    ["pointerenter", "focusin"].forEach((event) =>
      figure.addEventListener(event, () => (warm ??= load().then(() => [1, 2, 3].forEach(once)).catch(() => {}))),
    );
    live(figure, (state) => (globalThis.py?.modules[module] ? solve(state) : load().then(() => solve(state))));
  };
  const all = () => document.querySelectorAll("figure.explorable[data-scripts]").forEach(inPage);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
  globalThis.rankeduLive = live;
})();
