/* Exercises and listings that a reader can run. Nothing is loaded before the first click; then `engine.js`, once. */
"use strict";

(() => {
  const { element, storage } = window.book;
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const page = location.pathname.replace(/^.*\//, "");
  let loading;

  const load = () =>
    (loading ??= new Promise((done, failed) => {
      document.head.append(element("script", { src: `${folder}engine.js`, onload: done, onerror: failed }));
    }));

  const editors = [];

  /* Put an editor with its buttons in the place of a program. */
  function furnish(box, program, name) {
    const starter = program.textContent.trim();
    const key = `play:${page}:${name || editors.length}`;
    const label = name ? "Your code" : "Inputs to change";
    const code = element("textarea", { spellcheck: false, autocapitalize: "off", value: storage.read(key) ?? starter });
    code.setAttribute("aria-label", label);
    code.rows = Math.max(4, code.value.split("\n").length + 1);
    const answer = element("pre", { className: "code-box-said" });
    answer.setAttribute("role", "status");
    const go = element("button", { type: "button", textContent: name ? "Check" : "Run", className: "code-box-go", title: "Ctrl+Enter" });
    const halt = element("button", { type: "button", textContent: "Stop", hidden: true, onclick: () => window.play.stop() });
    const buttons = element("div", { className: "code-box-buttons" }, go, halt);
    const earlier = [...editors];
    if (name) editors.push(code);

    code.oninput = () => storage.write(key, code.value === starter ? null : code.value);
    code.onkeydown = (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) go.click();
    };
    /* A new line is indented as the one before it, and the key that deletes takes a whole step, by touch as well. */
    code.onbeforeinput = (event) => {
      const line = code.value.slice(0, code.selectionStart).split("\n").pop();
      let [text, back] = ["", 0];
      if (event.inputType === "insertLineBreak") {
        text = `\n${line.match(/^ */)[0]}${line.trimEnd().endsWith(":") ? "    " : ""}`;
      } else if (event.inputType === "deleteContentBackward" && /^( {4})+$/.test(line)) {
        back = code.selectionStart === code.selectionEnd ? 4 : 0;
      }
      if (!text && !back) return;
      event.preventDefault();
      code.setRangeText(text, code.selectionStart - back, code.selectionEnd, "end");
      code.rows = Math.max(code.rows, code.value.split("\n").length + 1);
      code.oninput();
    };
    go.onclick = async () => {
      if (go.disabled) return;
      go.disabled = true;
      delete box.dataset.verdict;
      answer.textContent = window.play ? "Running …" : "Loading Python …";
      const slow = setTimeout(() => (halt.hidden = false), 300);
      try {
        await load();
        const exercise = name ? window.play.exercises[name].python : "";
        const [verdict, text] = await window.play.run({ code: code.value, earlier: earlier.map((one) => one.value), exercise });
        answer.textContent = text || "The code ran and printed nothing.";
        box.dataset.verdict = verdict;
      } catch {
        answer.textContent = "Python could not be loaded: engine.js is missing beside this page's scripts.";
      }
      clearTimeout(slow);
      go.disabled = false;
      halt.hidden = true;
    };
    if (name) {
      const hints = element("ol", { className: "code-box-hints" });
      const more = element("button", { type: "button", textContent: "Hint" });
      more.onclick = async () => {
        await load();
        const all = window.play.exercises[name].hints;
        hints.append(element("li", { textContent: all[hints.children.length] }));
        more.disabled = hints.children.length === all.length;
      };
      buttons.append(more);
      const solution = box.querySelector(".solution");
      if (solution) {
        const open = element("button", { type: "button", textContent: "Solution" });
        solution.hidden = true;
        open.setAttribute("aria-expanded", "false");
        open.onclick = () => {
          solution.hidden = !solution.hidden;
          open.setAttribute("aria-expanded", String(!solution.hidden));
        };
        solution.classList.remove("dropdown", "toggle");
        buttons.append(open);
      }
      program.replaceWith(code, buttons, answer, hints);
    } else program.replaceWith(code, buttons, answer);
    const again = element("button", { type: "button", textContent: "Start again" });
    again.onclick = () => {
      code.value = starter;
      code.oninput();
      code.focus();
    };
    buttons.append(again);
  }

  for (const box of document.querySelectorAll("[data-exercise]")) {
    furnish(box, box.querySelector(".tag_exercise .cell_input"), box.dataset.exercise);
  }
  for (const box of document.querySelectorAll("[data-try]")) furnish(box, box.querySelector("pre"), "");
})();
