/* Exercises and listings that a reader can run. Nothing is loaded before the first click; then `engine.js`, once. */
"use strict";

(() => {
  const { element, storage } = window.book;
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const page = location.pathname.replace(/^.*\//, "");
  const editors = [];
  let loading;

  const load = () =>
    (loading ??= new Promise((done, failed) => {
      document.head.append(element("script", { src: `${folder}engine.js`, onload: done, onerror: failed }));
    }));
  const button = (textContent, onclick, more) => element("button", { type: "button", textContent, onclick, ...more });

  /* Put an editor with its buttons in the place of a program. */
  function furnish(box, program, name) {
    const starter = program.textContent.trim();
    const key = `play:${page}:${name || editors.length}`;
    const code = element("textarea", { spellcheck: false, autocapitalize: "off", value: storage.read(key) ?? starter });
    code.ariaLabel = name ? "Your code" : "Inputs";
    code.rows = Math.max(4, code.value.split("\n").length + 1);
    const said = element("pre", { className: "code-box-said", role: "status" });
    const earlier = [...editors];
    if (name) editors.push(code);

    const check = async () => {
      if (go.disabled) return;
      go.disabled = true;
      delete box.dataset.verdict;
      said.textContent = window.play ? "Running …" : "Loading Python …";
      const slow = setTimeout(() => (halt.hidden = false), 300);
      try {
        await load();
        const exercise = name && window.play.exercises[name].python;
        const [verdict, text] = await window.play.run({ code: code.value, earlier: earlier.map((one) => one.value), exercise });
        said.textContent = text || "Nothing was printed.";
        box.dataset.verdict = verdict;
      } catch {
        said.textContent = "Python is missing: engine.js could not be loaded.";
      }
      said.scrollIntoView({ block: "nearest" });
      clearTimeout(slow);
      go.disabled = false;
      halt.hidden = true;
    };
    const go = button(name ? "Check" : "Run", check, { className: "code-box-go", title: "Ctrl+Enter" });
    const halt = button("Stop", () => window.play.stop(), { hidden: true });
    const buttons = element("div", { className: "code-box-buttons" }, go, halt);
    code.onfocus = () => load().catch(() => {});
    code.oninput = () => storage.write(key, code.value === starter ? null : code.value);
    /* The three dots are selected at the first touch, so that what is written takes their place. */
    code.onclick = () => {
      const dots = starter.indexOf("...");
      if (code.value === starter && dots > 0) code.setSelectionRange(dots, dots + 3);
    };
    code.onkeydown = (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) check();
    };
    program.replaceWith(code, buttons, said);

    if (name) {
      const hints = element("ol", { className: "code-box-hints" });
      const more = button("Hint", async () => {
        await load();
        const all = window.play.exercises[name].hints;
        hints.append(element("li", { textContent: all[hints.children.length] }));
        more.disabled = hints.children.length === all.length;
      });
      said.after(hints);
      buttons.append(more);
      const solution = box.querySelector(".solution");
      if (solution) {
        solution.classList.remove("dropdown", "toggle");
        const open = button("Solution", () => {
          solution.hidden = !solution.hidden;
          open.ariaExpanded = !solution.hidden;
        });
        buttons.append(open);
        open.click();
      }
    }
    const again = () => {
      code.value = starter;
      code.oninput();
      code.focus();
    };
    buttons.append(button("Start again", again));
  }

  for (const box of document.querySelectorAll("[data-exercise]")) {
    furnish(box, box.querySelector(".tag_exercise .cell_input"), box.dataset.exercise);
  }
  for (const box of document.querySelectorAll("[data-try]")) furnish(box, box.querySelector("pre"), "");
})();
