/* A margin shifts relevant scores down and the others up before they are ranked: from which α on does the AP loss have a gradient? */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.margin = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDEF", RELEVANT = [true, true, true, false, false, false];
  const [MOST, TOP, SHIFTED, R] = [0.4, 52, 150, 11];
  const start = { scores: [0.95, 0.8, 0.55, 0.43, 0.2, 0.06], margin: 0, lam: 3 };

  /* The gradient of 1 − AP by Algorithm 1: that of rankedu.losses.APLoss. */
  function gradient(y, margin, lam) {
    const shifted = ranks.shift_by_margin(y, RELEVANT, margin);
    const [among, places] = [ranks.rank_among(shifted, RELEVANT), ranks.rank(shifted)];
    return ranks.rank_gradient(shifted, among.map((k, i) => k / (3 * places[i] ** 2)), lam);
  }
  const size = (slopes) => Math.hypot(...slopes);
  const gap = (y) => Math.min(...y.slice(0, 3)) - Math.max(...y.slice(3));

  const alphas = Array.from({ length: 201 }, (_, k) => (k * MOST) / 200);
  let [axis, sizes, of, seen] = [null, [], "", 0]; // the length of the gradient for every margin: a staircase, like the ranks
  function draw({ scores, margin, lam }, width) {
    axis = ui.scale([-0.21, 1.21], [R + 2, width - R - 2]);
    const shifted = ranks.shift_by_margin(scores, RELEVANT, margin);
    const slopes = gradient(scores, margin, lam);
    const marks = [
      ui.tag("text", { x: 0, y: 13, class: "bold" }, "ranks of the scores"), ui.tag("text", { x: width, y: 13, class: "soft", "text-anchor": "end" }, "high score"),
      ui.tag("text", { x: 0, y: SHIFTED + 46, class: "bold" }, "ranks with the margin"),
    ];
    [[TOP, scores, -16], [SHIFTED, shifted, 25]].forEach(([y, values, down]) => {
      marks.push(ui.tag("line", { x1: 0, x2: width, y1: y, y2: y, class: "axis" }));
      const labels = ui.apart(values.map(axis), 13, 4, width - 4);
      ranks.rank(values).forEach((place, i) => marks.push(ui.tag("text", { x: labels[i], y: y + down, class: RELEVANT[i] ? "bold" : "soft", "text-anchor": "middle" }, String(place))));
    });
    scores.forEach((score, i) => marks.push(ui.arrow(axis(score), TOP + R + 2, axis(shifted[i]), SHIFTED - R - 4, RELEVANT[i] ? "blue fine" : "red fine")));
    scores.forEach((score, i) => {
      const way = -Math.sign(slopes[i]), long = ui.clamp(40 * Math.abs(slopes[i]), 14, 30); // a descent step raises what is pushed to the right
      if (way) marks.push(ui.arrow(axis(score) + way * R, TOP, axis(score) + way * (R + long), TOP, `thick ${RELEVANT[i] ? "blue" : "red"}`, 9));
      marks.push(ui.item(axis(score), TOP, RELEVANT[i], NAMES[i], R), ui.item(axis(shifted[i]), SHIFTED, RELEVANT[i], NAMES[i], R));
      handles[i].at(axis(score), TOP, `Item ${NAMES[i]}`, `score ${ui.number(score)}`, score);
    });
    const [left, right, top, bottom] = [0, width - 4, 250, 302];
    if (of !== `${scores} ${lam}`) [sizes, of, seen] = [alphas.map((alpha) => size(gradient(scores, alpha, lam))), `${scores} ${lam}`, 0];
    seen = Math.max(seen, margin); // the reader draws the staircase by sliding α
    const [across, up] = [ui.scale([0, MOST], [left, right]), ui.scale([0, Math.max(...sizes, 1e-9)], [bottom, top])];
    marks.push(ui.tag("text", { x: 0, y: 234 }, "length of the gradient of the AP loss, by α"));
    marks.push(ui.tag("polygon", { points: `${left},${bottom} ${sizes.flatMap((value, k) => [alphas[k], alphas[k + 1] ?? MOST].map((alpha) => `${across(Math.min(alpha, seen)).toFixed(1)},${up(value).toFixed(1)}`).slice(0, alphas[k] > seen ? 0 : 2)).join(" ")} ${across(seen)},${bottom}`, class: "bar" }));
    marks.push(ui.tag("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }));
    marks.push(ui.tag("line", { x1: across(margin), x2: across(margin), y1: top - 4, y2: bottom, class: "line" }), ui.tag("circle", { cx: across(margin), cy: up(size(slopes)), r: 6, class: "dot" }));
    const between = gap(scores);
    const shows = between <= seen && between > 0.06 && between < MOST - 0.06;
    if (shows) marks.push(ui.tag("text", { x: across(between), y: bottom + 18, "text-anchor": "middle" }, "gap"), ui.tag("line", { x1: across(between), x2: across(between), y1: bottom, y2: bottom + 5, class: "line" }));
    marks.push(ui.tag("text", { x: left, y: bottom + 18, class: "soft" }, "0"), ui.tag("text", { x: right, y: bottom + 18, class: "soft", "text-anchor": "end" }, String(MOST)));
    picture.draw(width, marks.join(""), "Six scores, the same scores shifted by the margin, and the length of the gradient for every margin");
    const ap = `AP is ${ui.number(ranks.average_precision(scores, RELEVANT))}, and ${ui.number(ranks.average_precision(shifted, RELEVANT))} with the margin.`;
    const names = (sign) => [...NAMES].filter((_, i) => Math.sign(slopes[i]) === sign).join(" and ");
    if (size(slopes)) return `${ap} A descent step raises ${names(-1)} and lowers ${names(1)}.`;
    const sorted = gap(shifted) > 0;
    return `${ap} The gradient is zero, because ${sorted ? "the shifted list is sorted" : "λ is too short to reach across the margin"}.`;
  }

  const play = ui.figure({ el, model, name: "margin", start, draw, shown: ({ scores, margin, lam }) => ({ gap: gap(scores), gradient: gradient(scores, margin, lam) }) });
  const picture = play.svg(324);
  const put = (i, score) => play.set({ scores: play.state.scores.map((old, k) => (k === i ? Number(ui.clamp(score, 0, 1).toFixed(3)) : old)) });
  const handles = [...NAMES].map((_, i) => play.handle(picture, { move: ({ x }) => put(i, axis.back(x)), by: (dx, dy) => put(i, play.state.scores[i] + 0.02 * (dy || dx)) }));
  play.slider("margin", { label: "α, the margin", low: 0, high: MOST });
  play.slider("lam", { label: "λ, how far the gradient looks ahead", low: 0.1, high: 30, log: true });
};
