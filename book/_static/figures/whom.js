/* Which items do Algorithm 1 and identity push? The loss is the sum of the ranks of the relevant items. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.whom = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDE", RELEVANT = [0, 1, 0, 0, 1];
  const PERFECT = [0.5, 0.9, 0.3, 0.15, 0.75];
  const start = { scores: [0.9, 0.7, 0.55, 0.35, 0.2], lam: 0.3, length: 0 };
  const signed = (step) => (Math.abs(step) < 0.005 ? "0" : `${step > 0 ? "+" : ""}${ui.number(step, Math.abs(step % 1) < 1e-9 ? 0 : 2)}`);

  function draw(state, width) {
    const { scores, lam } = state, places = ranks.rank(scores);
    const gained = ranks.rank_gradient(scores, RELEVANT, lam).map((slope) => Math.round(-lam * slope));
    const identity = ranks.identity_gradient(scores, RELEVANT, state.length ? "std" : "mean").map((slope) => -slope);
    const [line, axis] = list(width, 44, (i) => `rank ${places[i]}, places gained ${gained[i]}, step of identity ${ui.number(identity[i])}`);
    const pushed = [gained, identity].map((steps) => ui.drawn(steps, 64).filter(Boolean).length);
    const [below, high] = ui.pushes(width, 44, axis, {
      scores, places, names: NAMES, relevant: RELEVANT, says: signed, tall: 64,
      rows: [
        { title: "Algorithm 1", note: pushed[0] ? "places gained" : "no push", steps: gained },
        { title: "identity", note: pushed[1] ? "minus the gradient" : "no push", steps: identity },
      ],
    });
    picture.draw(width, line + below, "Five items, and what two methods do to each", high);
    const least = Math.min(...scores.filter((_, i) => RELEVANT[i])), most = Math.max(...scores.filter((_, i) => !RELEVANT[i]));
    const perfect = least > most ? "The list is perfect. " : "";
    return `${perfect}Algorithm 1 pushes ${pushed[0] || "no"} items, and identity pushes ${pushed[1] || "none"}.`;
  }

  const play = ui.figure({ el, model, name: "whom", start, draw });
  const picture = play.svg(280);
  const list = play.list(picture, NAMES, RELEVANT);
  play.slider("lam", { label: "λ of Algorithm 1", low: 0.03, high: 4, log: true, ends: ["near neighbours", "whole list"] });
  play.button("Perfect list", () => play.set({ scores: PERFECT }));
  play.button("Remove mean and length", () => play.set({ length: 1 - play.state.length }), (state) => Boolean(state.length));
};
