/* Five scores, of which a loss wants B and E ranked high: a step of λ along c, what passes what on the way, and the loss on
   the way, whose mean is the interpolation. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures["look-ahead"] = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDE", C = [0, 0.5, 0, 0, 0.5]; // the loss c · rk(y) is the mean rank of B and E
  const [LOW, HIGH, FAR] = [0.4, 4.4, 5]; // of the scores and of λ
  const [LEFT, TOP, BOTTOM, LAMBDA, BEST, WORST] = [86, 30, 224, 244, 354, 292];
  const start = { scores: [3.9, 3.2, 2.6, 1.5, 0.9], lam: 1.3 };

  const ahead = (y, t) => y.map((score, i) => score + t * C[i]);
  const loss = (y) => ranks.rank(y).reduce((sum, place, i) => sum + place * C[i], 0);

  /* What passes what on the way, and when, in order. */
  function passings(y) {
    const found = [];
    y.forEach((score, i) => y.forEach((other, j) => {
      const t = (other - score) / (C[i] - C[j]);
      if (C[i] > C[j] && t > 0 && t < FAR) found.push({ t, i, j });
    }));
    return found.sort((a, b) => a.t - b.t);
  }

  let [across, up] = [null, null];
  function draw({ scores, lam }, width) {
    across = ui.scale([0, FAR], [LEFT, width - 12]);
    up = ui.scale([LOW, HIGH], [BOTTOM, TOP]);
    const level = ui.scale([1.5, 4.5], [BEST, WORST]);
    const [before, after] = [ranks.rank(scores), ranks.rank(ahead(scores, lam))];
    const [slopes, mean, passed] = [ranks.rank_gradient(scores, C, lam), ranks.interpolated(scores, C, lam), passings(scores)];
    const tip = across(lam);
    const marks = [
      ui.tag("text", { x: 0, y: 14, class: "soft" }, "rank now → at λ"),
      ui.tag("text", { x: width, y: 14, class: "soft", "text-anchor": "end" }, "score ↑, by the step →"),
      ui.tag("rect", { x: LEFT, y: TOP - 8, width: tip - LEFT, height: BEST - TOP + 8, class: "area" }),
      ui.tag("line", { x1: LEFT, x2: LEFT, y1: TOP - 8, y2: BEST, class: "axis" }), ui.tag("line", { x1: LEFT, x2: across(FAR), y1: BEST, y2: BEST, class: "axis" }),
      ui.arrow(LEFT, LAMBDA, tip, LAMBDA),
      ui.tag("text", tip < width - 90 ? { x: tip + 20, y: LAMBDA + 5 } : { x: tip - 20, y: LAMBDA + 19, "text-anchor": "end" }, `λ = ${ui.number(lam)}`),
    ];
    for (const { t, j } of passed.filter(({ t }) => t < lam)) {
      marks.push(ui.tag("line", { x1: across(t), x2: across(t), y1: up(scores[j]), y2: BEST, class: "axis" }));
      marks.push(ui.tag("line", { x1: across(t), x2: across(t), y1: up(scores[j]), y2: level(loss(ahead(scores, t - 1e-6))), class: "axis dashed" }));
    }
    scores.forEach((score, i) => {
      const end = C[i] ? Math.min(FAR, (HIGH - score) / C[i]) : FAR;
      marks.push(ui.tag("line", { x1: LEFT, x2: across(end), y1: up(score), y2: up(score + end * C[i]), class: C[i] ? "line blue" : "line red dashed fine" }));
    });
    passed.filter(({ t }) => t < lam).forEach(({ t, j }) => marks.push(ui.tag("circle", { cx: across(t), cy: up(scores[j]), r: 5, class: "dot mean" })));
    const knots = [0, ...passed.map(({ t }) => t), FAR];
    const stairs = knots.slice(1).map((t, k) => `${across(knots[k])},${level(loss(ahead(scores, (knots[k] + t) / 2)))} ${across(t)},${level(loss(ahead(scores, (knots[k] + t) / 2)))}`);
    marks.push(ui.tag("text", { x: 0, y: WORST - 17 }, "loss: mean rank of B and E"));
    marks.push(ui.tag("text", { x: width, y: WORST - 17, class: "bold mean", "text-anchor": "end" }, `mean over λ: ${ui.number(mean)}`));
    marks.push(ui.tag("polyline", { points: stairs.join(" "), class: "line" }));
    marks.push(ui.tag("line", { x1: LEFT, x2: tip, y1: level(mean), y2: level(mean), class: "line mean dashed" }));
    marks.push(ui.tag("circle", { cx: LEFT, cy: level(mean), r: 5, class: "dot mean" }));
    marks.push(ui.tag("text", { x: LEFT - 10, y: ui.clamp(level(loss(scores)) + 4, WORST + 4, BEST), "text-anchor": "end" }, ui.number(loss(scores), 1)));
    for (let t = 0; t <= FAR; t += 1) marks.push(ui.tag("text", { x: across(t), y: BEST + 17, class: "soft", "text-anchor": "middle" }, String(t)));
    const labels = ui.apart(scores.map((score) => up(score) + 5), 16, TOP, BOTTOM + 4);
    scores.forEach((score, i) => {
      const long = -Math.sign(slopes[i]) * ui.clamp(26 * Math.abs(slopes[i]), 12, 36);
      if (slopes[i]) marks.push(ui.arrow(slopes[i] < 0 ? 54 : 63, up(score), slopes[i] < 0 ? 54 : 63, up(score) - long, C[i] ? "blue" : "red"));
      marks.push(ui.tag("text", { x: 4, y: labels[i], class: slopes[i] ? "bold" : "soft" }, slopes[i] ? `${before[i]} → ${after[i]}` : String(before[i])));
      marks.push(ui.item(LEFT, up(score), C[i], NAMES[i], 12));
      handles[i].at(LEFT, up(score), `Item ${NAMES[i]}`, `score ${ui.number(score)}, rank ${before[i]}`, score, LOW, HIGH);
    });
    picture.draw(width, marks.join(""), "Five scores on the way along the arrow, and the loss on the way");
    const passes = passed.filter(({ t }) => t < lam).map(({ i, j }) => `${NAMES[i]} passes ${NAMES[j]}`);
    if (!passes.length) return `Within λ = ${ui.number(lam)} no item passes another. The gradient is zero.`;
    const pushed = (sign) => [...NAMES].filter((_, i) => Math.sign(slopes[i]) === sign).join(", ");
    return `Within λ = ${ui.number(lam)} ${passes.join(", ")}. A descent step raises ${pushed(-1)} and lowers ${pushed(1)}.`;
  }

  const play = ui.figure({
    el, model, name: "look-ahead", start, draw,
    shown: ({ scores, lam }) => ({ gradient: ranks.rank_gradient(scores, C, lam), interpolated: ranks.interpolated(scores, C, lam) }),
  });
  const picture = play.svg(BEST + 22);
  const put = (i, score) => play.set({ scores: play.state.scores.map((old, k) => (k === i ? Number(ui.clamp(score, 0.5, 4).toFixed(3)) : old)) });
  const handles = [...NAMES].map((_, i) => play.handle(picture, { move: ({ y }) => put(i, up.back(y)), by: (dx, dy) => put(i, play.state.scores[i] + 0.1 * (dy || dx)) }));
  play.slider("lam", { label: "λ, the length of the step", low: 0.05, high: FAR });
};
