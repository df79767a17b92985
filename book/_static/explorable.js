/* Moves the frames of every explorable on the page. No library, no network beyond the frames themselves.
   Markup: book/tools/site/explorables.py. */
"use strict";

(() => {
  const start = (figure) => {
    const frames = JSON.parse(figure.dataset.frames);
    const sizes = JSON.parse(figure.dataset.size);
    const address = figure.dataset.address;
    const picture = figure.querySelector("img");
    const sliders = [...figure.querySelectorAll("input[type=range]")];
    const labels = sliders.map((slider) => JSON.parse(slider.dataset.labels));
    const outputs = sliders.map((slider) => figure.querySelector(`output[for="${slider.id}"]`));
    let fetched = false;

    // Where the sliders stand is part of the page's address, `#explorable-name?lam=3`, so that it can be kept and sent.
    const nameOf = (slider) => slider.id.slice(figure.id.length + 1);
    const keep = () => {
      const states = sliders.map((slider, i) => [nameOf(slider), labels[i][Number(slider.value)]]);
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
      sliders.forEach((slider, i) => {
        const at = labels[i].indexOf(found.get(nameOf(slider)));
        if (at >= 0) slider.value = String(at);
      });
      show();
      figure.scrollIntoView({ block: "center" });
    };

    const show = () => {
      // The last slider moves fastest, as in Explorable.grid().
      const number = sliders.reduce((sum, slider, i) => sum * sizes[i] + Number(slider.value), 0);
      sliders.forEach((slider, i) => {
        const text = labels[i][Number(slider.value)];
        outputs[i].value = text;
        slider.setAttribute("aria-valuetext", text);
      });
      picture.src = `${address}/${frames[number].file}`;
      picture.alt = frames[number].alt;
      figure.dataset.frame = String(number);
    };

    // Fetch the other frames once the reader is about to move a slider, so that it never waits; not before, for a page
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

    sliders.forEach((slider) => {
      slider.addEventListener("input", show);
      slider.addEventListener("change", keep);
    });
    ["pointerenter", "pointerdown", "focusin"].forEach((event) =>
      figure.addEventListener(event, fetchAll, { once: true }),
    );
    figure.querySelectorAll("button[data-plays]").forEach((button) => {
      const slider = sliders.find((one) => one.id === button.dataset.plays);
      let clock = null;
      const stop = () => {
        clearInterval(clock);
        clock = null;
        button.textContent = "Play";
        keep();
      };
      button.addEventListener("click", () => {
        if (clock) return stop();
        fetchAll();
        if (slider.value === slider.max) slider.value = slider.min;
        button.textContent = "Pause";
        show();
        clock = setInterval(() => {
          slider.value = String(Number(slider.value) + 1);
          show();
          if (slider.value === slider.max) stop();
        }, 500);
      });
      slider.addEventListener("pointerdown", () => clock && stop());
    });
    figure.querySelector(".explorable-controls").hidden = false;
    show();
    restore();
    window.addEventListener("hashchange", restore);
  };

  const startAll = () => document.querySelectorAll("figure.explorable[data-frames]").forEach(start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startAll);
  else startAll();
})();
