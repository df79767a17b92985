/* What answers a prediction stays folded until the reader has answered it, or skips it. The answer is kept in this browser
   alone. Without scripts, and on paper, everything is open; the search of the browser looks into what is folded. */
"use strict";

(() => {
  const { element, storage } = window.book;

  /** What follows an element on the page, through the sections that begin after it. */
  function* following(node) {
    for (;;) {
      while (!node.nextElementSibling) {
        node = node.parentElement;
        if (!node?.matches("section")) return;
      }
      node = node.nextElementSibling;
      while (node.matches("section") && node.firstElementChild) node = node.firstElementChild;
      yield node;
    }
  }

  /** The outputs and the reveal that belong to a prediction: whatever stands between the two boxes. */
  function answers(box) {
    const found = [];
    for (const next of following(box)) {
      if (next.matches(".admonition.reveal")) return [...found, next];
      if (next.matches(".admonition.predict")) break;
      if (next.matches("figure, .cell_output, .highlight-pycon")) found.push(next);
      else if (next.querySelector(".cell_output")) found.push(...next.querySelectorAll(".cell_output, details.above-input"));
    }
    return [];
  }

  /** A field for each kind of prediction: how it looks, what it says, and how an answer that was kept is put back. */
  const fields = {
    words: () => textField({ type: "text", autocomplete: "off" }),
    number: () => textField({ type: "number", step: "any", inputMode: "decimal" }),
    choice: (box, name) => {
      const list = box.querySelector(":scope > ul:last-of-type");
      const kept = [...list.children].map((item) => {
        const input = element("input", { type: "radio", name, value: item.textContent.trim() });
        const label = element("label", {}, input, " ", ...item.childNodes);
        item.append(label);
        item.setAttribute("role", "none"); // of the radio group, no longer of a list
        return input;
      });
      list.classList.add("prediction-choices");
      list.setAttribute("role", "radiogroup");
      list.setAttribute("aria-label", "Your prediction");
      return {
        inputs: kept,
        value: () => kept.find((input) => input.checked)?.value ?? "",
        restore: (value) => kept.forEach((input) => (input.checked = input.value === value)),
      };
    },
    order: (box) => {
      const list = box.querySelector(":scope > ul:last-of-type, :scope > ol:last-of-type");
      const names = new Map([...list.children].map((item) => [item.textContent.trim(), item]));
      const move = (item, by) => {
        const all = [...list.children], to = all.indexOf(item) + by;
        if (to < 0 || to >= all.length) return;
        if (by < 0) all[to].before(item);
        else all[to].after(item);
      };
      names.forEach((item, name) => {
        for (const [sign, by, way] of [["↑", -1, "up"], ["↓", 1, "down"]]) {
          const button = element("button", { type: "button", textContent: sign, ariaLabel: `Move ${name} ${way}` });
          button.addEventListener("click", () => {
            move(item, by);
            button.focus();
          });
          item.append(" ", button);
        }
      });
      list.classList.add("prediction-order");
      const value = () => [...list.children].map((item) => [...names].find(([, one]) => one === item)[0]).join(", ");
      return {
        inputs: [...list.querySelectorAll("button")],
        value,
        restore: (kept) => kept.split(", ").forEach((name) => names.has(name) && list.append(names.get(name))),
      };
    },
    curve: (box, name) => curveField(name),
  };

  function textField(properties) {
    const input = element("input", { required: true, ...properties });
    return {
      inputs: [input],
      shown: element("label", {}, "Your prediction ", input),
      value: () => input.value.trim(),
      restore: (value) => (input.value = value),
    };
  }

  /** A curve of seven points, each a slider that a pointer draws and arrow keys move. */
  function curveField(name) {
    const [points, wide, high] = [7, 280, 140];
    const heights = Array(points).fill(50);
    const namespace = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(namespace, "svg");
    svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    svg.classList.add("prediction-curve");
    const line = svg.appendChild(document.createElementNS(namespace, "polyline"));
    const at = (index) => 14 + (index * (wide - 28)) / (points - 1);
    const handles = heights.map((_, index) => {
      const handle = svg.appendChild(document.createElementNS(namespace, "circle"));
      handle.setAttribute("r", 9);
      handle.setAttribute("cx", at(index));
      const told = { tabindex: 0, role: "slider", "aria-valuemin": 0, "aria-valuemax": 100 };
      Object.entries({ ...told, "aria-label": `Height of your curve at point ${index + 1} of ${points}` }).forEach((one) =>
        handle.setAttribute(...one));
      handle.addEventListener("keydown", (event) => {
        const by = { ArrowUp: 5, ArrowRight: 5, ArrowDown: -5, ArrowLeft: -5 }[event.key];
        if (by) {
          event.preventDefault();
          put(index, heights[index] + by);
        }
      });
      return handle;
    });
    let drawn = false;
    const draw = () => {
      const y = (height) => high - 10 - (height / 100) * (high - 20);
      line.setAttribute("points", heights.map((height, index) => `${at(index)},${y(height)}`).join(" "));
      handles.forEach((handle, index) => {
        handle.setAttribute("cy", y(heights[index]));
        handle.setAttribute("aria-valuenow", Math.round(heights[index]));
      });
    };
    const put = (index, height) => {
      drawn = true;
      heights[index] = Math.min(100, Math.max(0, height));
      draw();
    };
    const follow = (event) => {
      const frame = svg.getBoundingClientRect();
      const [x, y] = [((event.clientX - frame.left) / frame.width) * wide, ((event.clientY - frame.top) / frame.height) * high];
      const index = Math.min(points - 1, Math.max(0, Math.round(((x - 14) / (wide - 28)) * (points - 1))));
      put(index, ((high - 10 - y) / (high - 20)) * 100);
    };
    svg.addEventListener("pointerdown", (event) => {
      svg.setPointerCapture(event.pointerId);
      follow(event);
    });
    svg.addEventListener("pointermove", (event) => event.buttons && follow(event));
    draw();
    return {
      inputs: handles,
      shown: element("div", { className: "prediction-drawing" }, svg),
      value: () => (drawn ? heights.map(Math.round).join(" ") : ""),
      restore: (value) => value.split(" ").forEach((height, index) => put(index, Number(height))),
      copy: () => {
        const copied = svg.cloneNode(true);
        copied.querySelectorAll("circle").forEach((one) => one.remove());
        copied.setAttribute("role", "img");
        copied.setAttribute("aria-label", "The curve that you drew");
        return copied;
      },
    };
  }

  const SKIPPED = "\u0000";

  function prepare(box, number) {
    const folded = answers(box);
    if (!folded.length) return;
    const key = `rankedu:prediction:${location.pathname.split("/").slice(-2).join("/")}:${box.id || number}`;
    const kind = Object.keys(fields).find((name) => box.classList.contains(name)) ?? "words";
    const field = fields[kind](box, `prediction-${number}`);
    const reveal = folded.at(-1);
    reveal.classList.remove("dropdown"); // one gesture opens it, not two
    const said = element("div", { className: "prediction-said" });
    reveal.querySelector(".admonition-title").after(said);
    const show = element("button", { type: "submit", textContent: "Show" });
    const skip = element("button", { type: "button", textContent: "Skip" });
    const again = element("button", { type: "button", textContent: "Fold again", hidden: true });
    const status = element("span", { className: "prediction-status" });
    status.setAttribute("role", "status");
    const form = element("form", { className: "prediction", noValidate: true });
    form.append(...(field.shown ? [field.shown] : []), show, skip, again, status);
    box.append(form);
    folded.forEach((part, index) => (part.id ||= `answer-${number}-${index}`));
    for (const button of [show, skip]) button.setAttribute("aria-controls", folded.map((part) => part.id).join(" "));

    const open = (value) => {
      folded.forEach((part) => part.removeAttribute("hidden"));
      said.replaceChildren();
      if (value && value !== SKIPPED) said.append(field.copy ? element("span", {}, "You drew:", field.copy()) : `You said: ${value}.`);
      show.hidden = skip.hidden = true;
      again.hidden = false;
      status.textContent = "";
    };
    const fold = () => {
      folded.forEach((part) => part.setAttribute("hidden", "until-found"));
      show.hidden = skip.hidden = false;
      again.hidden = true;
    };
    const toAnswer = () => {
      folded[0].tabIndex = -1;
      folded[0].focus({ preventScroll: true });
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const value = field.value();
      if (!value) {
        status.textContent = "Commit to an answer first, or skip.";
        field.inputs[0].focus();
        return;
      }
      storage.write(key, value);
      open(value);
      toAnswer();
    });
    skip.addEventListener("click", () => {
      storage.write(key, SKIPPED);
      open(SKIPPED);
      toAnswer();
    });
    again.addEventListener("click", () => {
      storage.write(key, null);
      fold();
      field.inputs[0].focus();
    });
    folded.forEach((part) => part.addEventListener("beforematch", () => open(null)));

    const kept = storage.read(key);
    if (kept && kept !== SKIPPED) field.restore(kept);
    if (kept) open(kept);
    else fold();
  }

  document.querySelectorAll(".admonition.predict").forEach(prepare);
})();
