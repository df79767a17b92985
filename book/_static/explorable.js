/* Moves the frames of every explorable on the page. No library, no network beyond the frames themselves.
   Markup: book/tools/site/explorables.py. */
"use strict";

(() => {
  const REACH = 30; // pixels from a place at which a touch still chooses it

  /* A control of the reader's: a slider, or buttons for names. `at` is the number of its stop. */
  const controlOf = (figure) => (element) => {
    const labels = JSON.parse(element.dataset.labels);
    const radios = [...element.querySelectorAll("input[type=radio]")];
    const output = figure.querySelector(`output[for="${element.id}"]`);
    return {
      element,
      labels,
      name: element.id.slice(figure.id.length + 1),
      get at() {
        return radios.length ? radios.findIndex((radio) => radio.checked) : Number(element.value);
      },
      set at(stop) {
        if (radios.length) radios[stop].checked = true;
        else element.value = String(stop);
      },
      say() {
        if (!output) return;
        output.value = labels[this.at];
        element.setAttribute("aria-valuetext", labels[this.at]);
      },
      focus() {
        (radios[this.at] ?? element).focus({ preventScroll: true });
      },
    };
  };

  const start = (figure) => {
    const frames = JSON.parse(figure.dataset.frames);
    const sizes = JSON.parse(figure.dataset.size);
    const address = figure.dataset.address;
    const stage = figure.querySelector(".explorable-stage");
    const picture = stage.querySelector("img");
    const goals = [...figure.querySelectorAll(".explorable-goals > li")];
    const controls = [...figure.querySelectorAll("[data-labels]")].map(controlOf(figure));
    const named = Object.fromEntries(controls.map((control) => [control.name, control]));
    const first = controls.map((control) => control.at);
    const settings = (figure.settings ??= {}); // of ball.js and pin.js: name → how its text is got and set, "" for none
    let fetched = false;

    // Where all stands is part of the page's address, `#explorable-name?lam=3&ball=4,30`, so that it can be kept and sent.
    const keep = () => {
      const states = controls.map((control) => [control.name, control.labels[control.at]]);
      states.push(...Object.entries(settings).map(([name, { get }]) => [name, get()]).filter(([, text]) => text));
      try {
        history.replaceState(history.state, "", `#${figure.id}?${new URLSearchParams(states)}`);
      } catch {
        // a browser that takes only so many addresses in a minute
      }
    };
    const restore = () => {
      const [id, states] = location.hash.slice(1).split("?");
      if (id !== figure.id || !states) return;
      const found = new URLSearchParams(states);
      controls.forEach((control) => {
        const at = control.labels.indexOf(found.get(control.name));
        if (at >= 0) control.at = at;
      });
      show();
      for (const [name, { set }] of Object.entries(settings)) set(found.get(name) ?? "");
      figure.scrollIntoView({ block: "center" });
    };

    // The last control moves fastest, as in Explorable.grid().
    const here = () => frames[controls.reduce((sum, control, i) => sum * sizes[i] + control.at, 0)];
    /* In the dark a frame is inverted but for its scales of colours: of these lies the frame itself on it. */
    const lit = ({ scales: [first, ...others] = [] }) => {
      if (!first) return;
      const round = ([x0, y0, x1, y1]) => [[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]];
      const way = [...round(first), ...others.flatMap((one) => [...round(one), first])];
      stage.style.setProperty("--scales", `polygon(evenodd, ${way.map(([x, y]) => `${x}% ${y}%`)})`);
      stage.style.setProperty("--frame", `url("${picture.src}")`);
    };
    const show = () => {
      const frame = here();
      controls.forEach((control) => control.say());
      picture.src = `${address}/${frame.file}`;
      picture.alt = frame.alt;
      lit(frame);
      figure.dataset.frame = String(frames.indexOf(frame));
      showGrips(frame.holds ?? {});
      figure.dispatchEvent(new Event("frame")); // for the ball
      // A goal that was reached stays so; what is said about it is said of the frame that reached it last.
      frame.goals?.forEach((found, i) => {
        if (!found) return;
        goals[i].dataset.reached = "";
        goals[i].querySelector("[role=status]").textContent = found;
      });
    };

    // Fetch the other frames once the reader is about to move something, so that it never waits; not before, for a page
    // that is only read shall be light.
    const fetchAll = () => {
      if (fetched) return;
      fetched = true;
      figure.kept = frames.map((frame) => {
        const image = new Image();
        image.src = `${address}/${frame.file}`;
        return image;
      });
    };

    // Handles in the picture. A ring lies where a control stands; where a touch chooses, there is one at each place. They
    // are for mouse and finger alone: whoever took hold of one has its slider under the arrow keys.
    let held = null;
    const showGrips = (holds) => {
      const wanted = Object.entries(holds).flatMap(([name, { stops, choice }]) =>
        (choice ? stops : [stops[named[name].at]]).map((place) => ({ name, place, choice })),
      );
      const grips = stage.getElementsByClassName("explorable-grip");
      while (grips.length > wanted.length) grips[grips.length - 1].remove();
      wanted.forEach(({ name, place, choice }, i) => {
        const grip = grips[i] ?? stage.appendChild(document.createElement("span"));
        grip.className = "explorable-grip";
        grip.ariaHidden = "true";
        grip.dataset.handle = name;
        grip.toggleAttribute("data-choice", choice);
        [grip.style.left, grip.style.top] = place.map((share) => `${100 * share}%`);
      });
    };
    const nearest = (stops, event) => {
      const box = picture.getBoundingClientRect();
      const far = stops.map(([x, y]) =>
        Math.hypot(box.left + x * box.width - event.clientX, box.top + y * box.height - event.clientY),
      );
      const distance = Math.min(...far);
      return { at: far.indexOf(distance), distance };
    };
    const move = (name, at) => {
      if (named[name].at === at) return;
      named[name].at = at;
      show();
    };
    const holdsOf = (choice) => Object.entries(here().holds ?? {}).filter(([, hold]) => hold.choice === choice);
    const byDistance = (event) => (one, other) => nearest(one[1].stops, event).distance - nearest(other[1].stops, event).distance;
    const take = (event, wanted) => {
      const [chosen] = holdsOf(true).sort(byDistance(event));
      const found = chosen && nearest(chosen[1].stops, event);
      if (found?.distance <= REACH) {
        move(chosen[0], found.at);
        named[chosen[0]].focus();
      }
      const lines = holdsOf(false);
      const line = lines.find(([name]) => name === wanted) ?? lines.sort(byDistance(event))[0];
      if (!line) return null;
      move(line[0], nearest(line[1].stops, event).at);
      named[line[0]].focus();
      return line[0];
    };
    const release = () => {
      if (held) keep();
      held = null;
    };
    if (frames.some((frame) => frame.holds)) {
      stage.classList.add("explorable-held");
      stage.addEventListener("pointerdown", (event) => {
        const grip = event.target.dataset.handle;
        if (event.button || (event.pointerType === "touch" && !grip)) return; // a finger there may want to scroll
        event.preventDefault();
        fetchAll();
        held = { id: event.pointerId, name: take(event, grip) };
        stage.setPointerCapture(event.pointerId);
      });
      stage.addEventListener("pointermove", (event) => {
        if (held?.id === event.pointerId && held.name) move(held.name, nearest(here().holds[held.name].stops, event).at);
      });
      stage.addEventListener("pointerup", (event) => {
        if (!held && event.pointerType === "touch") held = { name: take(event) };
        release();
      });
      stage.addEventListener("pointercancel", release);
    }

    controls.forEach(({ element }) => {
      element.addEventListener("input", show);
      element.addEventListener("change", keep);
    });
    ["pointerenter", "pointerdown", "focusin"].forEach((event) =>
      figure.addEventListener(event, fetchAll, { once: true }),
    );
    figure.querySelector("[data-anew]").addEventListener("click", () => {
      controls.forEach((control, i) => (control.at = first[i]));
      Object.values(settings).forEach(({ set }) => set(""));
      show();
      keep();
    });
    figure.addEventListener("setting", keep);
    figure.querySelector(".explorable-controls").hidden = false;
    show();
    setTimeout(restore); // when ball.js and pin.js have begun, too
    window.addEventListener("hashchange", restore);
  };

  const startAll = () => document.querySelectorAll("figure.explorable[data-frames]").forEach(start);
  if (document.readyState === "complete") startAll();
  else document.addEventListener("DOMContentLoaded", startAll);
})();
