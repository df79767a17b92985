/* Cross entropy and AP of the same scores: which items a step of each moves. The three models are those of chapter 1. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures["cross-entropy"] = ({ el, model, ranks, ui }) => {
  const RELEVANT = [1, 1, 1, 0, 0, 0, 0, 0], NAMES = "12345678", P = 3;
  const MODELS = {
    A: [2.7, 2.4, 2.1, 1.8, 1.5, -0.3, -0.6, -0.9], B: [0.9, 0.6, 0.3, 1.8, 1.5, -2.1, -2.4, -2.7], C: [0.9, 0.6, 0.3, 1.8, 1.5, -4.2, -4.8, -5.4],
  };
  const start = { scores: MODELS.A, lam: 40 };
  const entropy = (y) => ranks.mean(y.map((score, i) => Math.log1p(Math.exp(RELEVANT[i] ? -score : score))));
  const signed = (step) => (Math.abs(step) < 0.005 ? "0" : `${step > 0 ? "+" : "−"}${Math.abs(step) >= 1 ? Math.abs(step) : Math.abs(step).toFixed(2).slice(1)}`);
  const way = (change) => (change > 0.0005 ? "higher" : change < -0.0005 ? "lower" : "the same");

  function draw(state, width) {
    const { scores, lam } = state, places = ranks.rank(scores), among = ranks.rank_among(scores, RELEVANT);
    const [ce, ap] = [entropy(scores), ranks.average_precision(scores, RELEVANT)];
    const down = scores.map((score, i) => (RELEVANT[i] - ranks.sigmoid(score)) / scores.length);
    const incoming = places.map((place, i) => among[i] / (P * place * place)); // of 1 - AP, the numerator held
    const gained = ranks.rank_gradient(scores, incoming, lam).map((slope) => Math.round(-lam * slope));
    const [first, best] = [entropy(MODELS.A), ranks.average_precision(MODELS.A, RELEVANT)];
    const [line, axis] = list(width, 44, (i) => `rank ${places[i]}, cross entropy moves it by ${ui.number(down[i])}, AP by ${gained[i]} places`);
    const zero = [
      ui.tag("line", { x1: axis(0), x2: axis(0), y1: 26, y2: 66, class: "line dashed" }), ui.tag("text", { x: axis(0) - 10, y: 36, "text-anchor": "middle", class: "soft" }, "0"),
    ];
    const [below, high] = ui.pushes(width, 44, axis, {
      scores, places, names: NAMES, relevant: RELEVANT, says: signed, tall: 64,
      rows: [
        { title: `cross entropy ${ce.toFixed(3)}`, note: `model A ${first.toFixed(3)}`, steps: down },
        { title: `AP ${ap.toFixed(3)}`, note: `model A ${best.toFixed(3)}`, steps: gained },
      ],
    });
    picture.draw(width, zero.join("") + line + below, "Eight photographs, three of them relevant, and what a step does to each", high);
    if (String(scores) === String(MODELS.A)) return `Model A: cross entropy is ${ce.toFixed(3)}, and AP is ${ap.toFixed(3)}.`;
    return `Compared with model A, cross entropy is ${way(ce - first)} and AP is ${way(ap - best)}.`;
  }

  const play = ui.figure({
    el, model, name: "cross-entropy", start, draw,
    shown: ({ scores }) => ({ cross_entropy: entropy(scores), average_precision: ranks.average_precision(scores, RELEVANT) }),
  });
  const picture = play.svg(280);
  const list = play.list(picture, NAMES, RELEVANT, { low: -6, high: 4, size: 9 });
  play.slider("lam", { label: "λ of Algorithm 1, for AP", low: 2, high: 400, log: true, ends: ["near neighbours", "whole list"] });
  for (const [name, scores] of Object.entries(MODELS))
    play.button(`Model ${name}`, () => play.set({ scores }), (state) => String(state.scores) === String(scores));
};
