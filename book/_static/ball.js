/* A ball on the map of an explorable's frames: the reader puts it down, and it rolls by the directions that were kept
   with each frame (book/rankedu_book/kit/explorable/grounds.py), as roll.js tells. They are fetched when the ball is first touched.
   Without scripts the map is a picture. */
"use strict";

(() => {
  const PACE = 12; // milliseconds a step
  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1], PageDown: [0, -5], PageUp: [0, 5] };

  const start = (figure) => {
    const { element } = window.book;
    const frames = JSON.parse(figure.dataset.frames);
    if (!frames[0].ground) return;
    const { box, side } = frames[0].ground;
    const last = side - 1;
    const stage = figure.querySelector(".explorable-stage");
    const map = stage.appendChild(element("div", { className: "explorable-map" }));
    ["left", "top", "width", "height"].forEach((name, i) => (map.style[name] = `${100 * box[i]}%`));
    map.innerHTML =
      `<svg viewBox="0 0 ${last} ${last}" preserveAspectRatio="none" aria-hidden="true">` +
      "<polyline/><polyline/></svg><span class='explorable-rolled' aria-hidden='true' hidden></span>";
    const rolled = map.querySelector(".explorable-rolled");
    const ball = map.appendChild(
      element("span", { className: "explorable-ball", tabIndex: 0, role: "slider", ariaLabel: "Ball", ariaValueMin: 0, ariaValueMax: last }),
    );
    const run = element("button", { type: "button" }, "Run");
    const hint = "Put the ball down in the map, or move it with the arrow keys.";
    const said = element("span", { role: "status" }, hint);
    const row = element("div", { className: "explorable-run" }, run, said);
    figure.querySelector(".explorable-controls").append(element("span", { className: "explorable-name" }, "ball"), row);

    const first = [Math.round(last / 4), Math.round((3 * last) / 4)];
    let at = first;
    let ran = false;
    let clock = null;
    let fetching = null;

    const put = (one, [x, y]) => {
      one.style.left = `${(100 * x) / last}%`;
      one.style.top = `${100 - (100 * y) / last}%`;
    };
    const draw = (trail) => {
      const points = trail.map(([x, y]) => `${x.toFixed(2)},${(last - y).toFixed(2)}`).join(" ");
      map.querySelectorAll("polyline").forEach((line) => line.setAttribute("points", points));
      rolled.hidden = trail.length < 2;
      if (trail.length) put(rolled, trail[trail.length - 1]);
    };
    const place = (to) => {
      at = to.map((value) => Math.min(Math.max(Math.round(value), 0), last));
      put(ball, at);
      ball.ariaValueNow = at[0];
      ball.ariaValueText = `${at[0]} to the right and ${at[1]} up, of ${last}`;
    };
    const move = (to, words = "") => {
      cancelAnimationFrame(clock);
      ran = false;
      draw([]);
      place(to);
      said.textContent = words;
    };
    const moved = () => figure.dispatchEvent(new Event("setting"));
    const fetched = () =>
      (fetching ??= new Promise((done, failed) => {
        const name = figure.id.replace("explorable-", "");
        if (window.grounds?.[name]) return done(window.grounds[name]);
        const script = element("script", { src: `${figure.dataset.address}/grounds.js`, onerror: failed });
        script.onload = () => done(window.grounds[name]);
        document.head.append(script);
      }));

    /* The whole trail at once where the reader moves a slider or wants no motion, else step by step. */
    const show = async (slowly) => {
      let kept;
      try {
        kept = await fetched();
      } catch {
        fetching = null;
        said.textContent = "The map could not be read, so the ball stays where it is.";
        return;
      }
      const number = Number(figure.dataset.frame);
      const { letters, low, high } = kept.losses[kept.loss[number]];
      const { trail, end, said: words } = rollBall({ way: kept.ways[number], loss: letters, low, high }, at);
      const tell = () => {
        draw(trail);
        figure.dataset.trail = JSON.stringify(trail);
        figure.dataset.end = end;
        said.textContent = words;
      };
      cancelAnimationFrame(clock);
      ran = true;
      if (!slowly || matchMedia("(prefers-reduced-motion: reduce)").matches) return tell();
      const begun = performance.now();
      const tick = (now) => {
        const count = Math.floor((now - begun) / PACE);
        if (count >= trail.length - 1) return tell();
        draw(trail.slice(0, Math.max(count, 0) + 1));
        clock = requestAnimationFrame(tick);
      };
      clock = requestAnimationFrame(tick);
    };

    const pointed = (event) => {
      const around = map.getBoundingClientRect();
      return [((event.clientX - around.left) / around.width) * last, (1 - (event.clientY - around.top) / around.height) * last];
    };
    // What happens in the map is the ball's alone; a finger beside the ball may scroll, and its tap puts the ball down.
    ["pointerdown", "pointermove", "pointerup"].forEach((name) => map.addEventListener(name, (event) => event.stopPropagation()));
    map.addEventListener("click", (event) => {
      if (event.target === ball) return;
      move(pointed(event));
      moved();
      ball.focus({ preventScroll: true });
    });
    ball.addEventListener("pointerup", moved);
    ball.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      ball.setPointerCapture(event.pointerId);
      ball.focus({ preventScroll: true });
    });
    ball.addEventListener("pointermove", (event) => {
      if (ball.hasPointerCapture(event.pointerId)) move(pointed(event));
    });
    ball.addEventListener("keydown", (event) => {
      const by = KEYS[event.key];
      if (by) {
        move(at.map((value, i) => value + by[i]));
        moved();
      } else if (event.key === "Enter") show(true);
      else return;
      event.preventDefault();
    });
    run.addEventListener("click", () => show(true));
    figure.addEventListener("frame", () => ran && show(false));
    (figure.settings ??= {}).ball = {
      get: () => (String(at) === String(first) ? "" : String(at)),
      set: (text) => move(/^\d+,\d+$/.test(text) ? text.split(",").map(Number) : first, text ? "" : hint),
    };
    place(at);
  };

  // When all scripts have run: elements are made by kept.js.
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("figure.explorable[data-frames]").forEach(start));
})();
