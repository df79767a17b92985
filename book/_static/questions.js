/* The question bank can be answered: options become buttons to choose from, reasons open once an answer was given, and the
   score of each chapter is kept in this browser alone. Without scripts an option opens to its reason. */
"use strict";

(() => {
  const { element, storage } = window.book;
  // The name of each question → the text of the option that was chosen. Another tab may have kept more since.
  function kept() {
    try {
      return JSON.parse(storage.read("rankedu:questions")) ?? {};
    } catch {
      return {}; // what was kept is no answer of ours
    }
  }
  const keep = (question, chosen) =>
    storage.write("rankedu:questions", JSON.stringify({ ...kept(), [question]: chosen ?? undefined }));

  const boxes = [...document.querySelectorAll("div.question")].map(prepare);
  const scores = [...new Set(boxes.map((one) => one.section))].map((section) => {
    const line = element("p", { className: "question-score" });
    line.setAttribute("role", "status");
    section.querySelector("h2").after(line);
    return { line, own: boxes.filter((one) => one.section === section) };
  });
  const total = element("p", { className: "question-score" });
  const forget = element("button", { type: "button", textContent: "Begin again" });
  forget.addEventListener("click", () => {
    storage.write("rankedu:questions", null);
    boxes.forEach((one) => one.show(null));
    tell();
  });
  document.querySelector(".bd-article h1").after(element("div", { className: "question-total" }, total, forget));
  tell();

  /** A question with its options in place of the folds; how it was answered, and a way to answer it. */
  function prepare(box, number) {
    const group = element("fieldset", {}, element("legend", {}, ...box.querySelector("p").childNodes));
    box.querySelector("p").replaceWith(group);
    const options = [...box.querySelectorAll("details")].map((fold, index) => {
      const summary = fold.querySelector(".sd-summary-text");
      const option = { text: summary.textContent.trim(), right: fold.classList.contains("right-option") };
      option.input = element("input", { type: "radio", name: `question-${number}` });
      option.reason = element("div", { className: "question-reason", id: `reason-${number}-${index}`, hidden: true });
      option.reason.append(...fold.querySelector(".sd-summary-content").childNodes);
      const label = element("label", {}, option.input, element("span", {}, ...summary.childNodes));
      option.row = element("div", { className: "question-option" }, label, option.reason);
      group.append(option.row);
      fold.remove();
      return option;
    });
    const submit = element("button", { type: "submit", textContent: "Answer" });
    const again = element("button", { type: "button", textContent: "Again", hidden: true });
    const status = element("span", {});
    status.setAttribute("role", "status");
    const form = element("form", {}, ...box.childNodes, submit, again, status);
    box.append(form);

    const question = { section: box.closest("section"), result: null, show };
    function show(chosen) {
      const option = options.find((one) => one.text === chosen);
      question.result = option ? option.right : null;
      for (const one of options) {
        one.input.checked = one === option;
        one.input.disabled = Boolean(option);
        one.reason.hidden = !option;
        if (option) one.input.setAttribute("aria-describedby", one.reason.id);
        else one.input.removeAttribute("aria-describedby");
        one.row.classList.toggle("is-right", Boolean(option) && one.right);
        one.row.classList.toggle("is-wrong", one === option && !one.right);
      }
      submit.hidden = Boolean(option);
      again.hidden = !option;
      status.textContent = option ? (option.right ? "Right." : "Not this one: see why.") : "";
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const option = options.find((one) => one.input.checked);
      if (!option) {
        status.textContent = "Choose an option first.";
        return;
      }
      keep(box.id, option.text);
      show(option.text);
      again.focus();
      tell();
    });
    again.addEventListener("click", () => {
      keep(box.id, null);
      show(null);
      options[0].input.focus();
      tell();
    });
    show(kept()[box.id] ?? null);
    return question;
  }

  function tell() {
    const say = (own) => {
      const [right, given] = [own.filter((one) => one.result).length, own.filter((one) => one.result !== null).length];
      return given ? `${right} of ${given} right, ${own.length - given} to answer.` : `${own.length} questions to answer.`;
    };
    scores.forEach(({ line, own }) => (line.textContent = say(own)));
    total.textContent = `Your score: ${say(boxes)}`;
    forget.hidden = boxes.every((one) => one.result === null);
  }
})();
