/* Brings a live explorable to life: handles that a mouse, a finger or the arrow keys move, buttons, and time.
   What is computed is none of its business: `solve` takes a state and returns a scene (marks.py), at once or later.
   In a page the page solves (below), in JupyterLab the kernel (widget.py). */
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const TICK = 33; // milliseconds from one step of an animation to the next
  const put = (element, attributes) => {
    for (const [name, value] of Object.entries(attributes))
      if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
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
      if (element.textContent !== words) element.textContent = words;
    });
    while (layer.children.length > marks.length) layer.lastChild.remove();
  };

  const live = (figure, solve) => {
    const find = (selector) => figure.querySelector(selector);
    const [svg, marks, controls, says, trouble] = ["svg", ".marks", ".explorable-controls", ".says", ".trouble"].map(find);
    const handles = svg.appendChild(document.createElementNS(SVG, "g"));
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
      says.textContent = scene.says;
      scene.handles.forEach((one, i) => showHandle(handles.children[i] ?? newHandle(i), one));
      while (handles.children.length > scene.handles.length) handles.lastChild.remove();
      scene.buttons.forEach((one, i) => showButton(controls.children[i] ?? newButton(i), one));
      while (controls.children.length > scene.buttons.length) controls.lastChild.remove();
      controls.hidden = !scene.buttons.length;
      figure.dataset.state = JSON.stringify(scene.state);
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
      keeping = setTimeout(keep, 300);
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
    const settings = ({ handles, buttons }) => ({
      moves: handles.flatMap((one) => one.moves),
      offers: [...handles.map((one) => one.also), ...buttons.filter((one) => one.pressed !== null).map((one) => one.changes)],
    });
    const written = (value) =>
      [value].flat().map((one) => (typeof one === "number" ? Number(one.toFixed(4)) : one)).join(",");
    const keep = () => {
      if (!figure.id) return; // in JupyterLab the address is not ours
      const { moves, offers } = settings(first);
      const names = new Set([...moves.map((one) => one.of), ...offers.flatMap(Object.keys)]);
      const states = [...names]
        .map((name) => [name, written(shown.state[name])])
        .filter(([name, text]) => text !== written(first.state[name]));
      const address = `#${figure.id}${states.length ? "?" : ""}${new URLSearchParams(states)}`.replaceAll("%2C", ",");
      if (!states.length && !location.hash.startsWith(`#${figure.id}?`)) return;
      try {
        if (address !== location.hash) history.replaceState(history.state, "", address);
      } catch {
        // a browser that takes only so many addresses in a minute
      }
    };
    const restore = () => {
      const [id, states] = location.hash.slice(1).split("?");
      if (!figure.id || id !== figure.id || !states) return;
      const found = new URLSearchParams(states);
      const { moves, offers } = settings(first);
      change((state) => {
        Object.assign(state, structuredClone(first.state));
        for (const offer of offers)
          for (const [name, value] of Object.entries(offer)) if (found.get(name) === String(value)) state[name] = value;
        for (const name of new Set(moves.map((one) => one.of))) {
          const moving = moves.filter((one) => one.of === name);
          (found.get(name)?.split(",") ?? []).forEach((text, i) => {
            const one = moving.find(({ at }) => at === i) ?? moving[0];
            const value = text.trim() ? Number(text) : NaN;
            if (!(value >= one.low && value <= one.high)) return;
            if (one.at !== null && i in state[name]) state[name][i] = value;
            else if (one.at === null && i === 0) state[name] = value;
          });
        }
      });
      figure.scrollIntoView({ block: "center" });
    };

    const newHandle = (i) => {
      const circle = handles.appendChild(document.createElementNS(SVG, "circle"));
      put(circle, { class: "handle", r: 17, tabindex: 0, role: "slider" });
      const here = () => shown.handles[i];
      const point = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      circle.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        const at = point(event);
        held = { id: event.pointerId, x: at.x - here().x, y: at.y - here().y };
        circle.setPointerCapture(event.pointerId);
        circle.focus({ preventScroll: true });
        event.preventDefault();
        change((state) => Object.assign(state, here().also));
      });
      circle.addEventListener("pointermove", (event) => {
        if (held?.id !== event.pointerId) return;
        const at = point(event);
        at.x -= held.x;
        at.y -= held.y;
        const handle = here();
        change(
          ...handle.moves.map((one) => {
            const value = one.low + ((at[one.axis] - one.start) / (one.end - one.start)) * (one.high - one.low);
            return move(handle, one, () => value);
          }),
        );
      });
      ["pointerup", "pointercancel", "lostpointercapture"].forEach((name) =>
        circle.addEventListener(name, () => (held = null)),
      );
      circle.addEventListener("keydown", (event) => {
        const handle = here();
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
      return circle;
    };
    const showHandle = (circle, handle) => {
      const [one] = handle.moves;
      put(circle, {
        "data-handle": handle.name,
        cx: handle.x,
        cy: handle.y,
        "aria-label": handle.name,
        "aria-valuemin": one.low,
        "aria-valuemax": one.high,
        "aria-valuenow": Number(valueOf(shown.state, one).toFixed(3)),
        "aria-valuetext": handle.says,
        "aria-orientation": one.axis === "y" ? "vertical" : "horizontal",
      });
    };

    const newButton = (i) => {
      const made = controls.appendChild(document.createElement("button"));
      made.type = "button";
      made.addEventListener("click", () => {
        const { changes } = shown.buttons[i];
        change((state) => Object.assign(state, structuredClone(changes)));
      });
      return made;
    };
    const showButton = (button, one) => {
      if (button.textContent !== one.label) button.textContent = one.label;
      if (one.pressed === null) button.removeAttribute("aria-pressed");
      else put(button, { "aria-pressed": one.pressed });
    };

    svg.setAttribute("role", "group");
    marks.setAttribute("role", "img");
    show(shown);
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
    ["pointerenter", "focusin"].forEach((event) =>
      figure.addEventListener(event, () => load().catch(() => {}), { once: true }),
    );
    live(figure, (state) => {
      const solve = () => py.to(py.modules[module][name](py.from(state)));
      return globalThis.py?.modules[module] ? solve() : load().then(solve);
    });
  };
  const all = () => document.querySelectorAll("figure.explorable[data-scripts]").forEach(inPage);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
  globalThis.rankeduLive = live;
})();
