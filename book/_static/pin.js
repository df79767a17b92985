/* Pins the frame of an explorable that the reader looks at, so that it stays beside those that follow; above both stands
   how they are set, and what is set differently is bold. Without scripts there is nothing of this. */
"use strict";

(() => {
  const { element } = window.book;

  const start = (figure) => {
    const frames = JSON.parse(figure.dataset.frames);
    const sizes = JSON.parse(figure.dataset.size);
    const stage = figure.querySelector(".explorable-stage");
    const controls = [...figure.querySelectorAll("[data-labels]")].map((control) => ({
      name: figure.querySelector(`label[for="${control.id}"], [id="${control.id}-name"]`).textContent,
      labels: JSON.parse(control.dataset.labels),
    }));
    const now = element("p", { className: "explorable-setting" });
    const kept = element("p", { className: "explorable-setting" });
    kept.setAttribute("role", "status");
    const pair = element("div", { className: "explorable-pair" });
    stage.replaceWith(pair);
    pair.append(now, stage, kept);
    const button = element("button", { type: "button", textContent: "Pin this one" });
    figure.querySelector("[data-anew]").before(button);
    let pinned = null; // the number of a frame
    let picture = null;

    // The last control moves fastest, as in Explorable.grid().
    const setting = (number) => {
      const said = [];
      sizes.reduceRight((rest, size, i) => {
        said.unshift(`${controls[i].name} ${controls[i].labels[rest % size]}`);
        return Math.floor(rest / size);
      }, number);
      return said;
    };
    const tell = (line, word, said, others) => {
      const parts = said.map((text, i) => element(text === others[i] ? "span" : "b", {}, text));
      line.replaceChildren(`${word}: `, ...parts.flatMap((part, i) => (i ? [", ", part] : [part])));
    };
    const show = () => {
      if (pinned === null) return;
      const [here, there] = [setting(Number(figure.dataset.frame)), setting(pinned)];
      tell(now, "Now", here, there);
      tell(kept, "Pinned", there, here);
    };
    const pin = (number) => {
      pinned = number;
      figure.toggleAttribute("data-pinned", pinned !== null);
      button.textContent = pinned === null ? "Pin this one" : "Unpin";
      picture?.remove();
      [now, kept].forEach((line) => line.replaceChildren());
      if (pinned === null) return;
      const { file, alt } = frames[pinned];
      picture = pair.appendChild(element("img", { src: `${figure.dataset.address}/${file}`, alt: `Pinned: ${alt}` }));
      show();
    };
    button.addEventListener("click", () => {
      pin(pinned === null ? Number(figure.dataset.frame) : null);
      figure.dispatchEvent(new Event("setting"));
    });
    (figure.settings ??= {}).pin = {
      get: () => String(pinned ?? ""),
      set: (text) => pin(text && frames[text] ? Number(text) : null),
    };
    figure.addEventListener("frame", show);
  };

  document.querySelectorAll("figure.explorable[data-frames]").forEach(start);
})();
