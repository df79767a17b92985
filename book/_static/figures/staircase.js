/* One score moves, and the loss 1 − AP over it is a staircase: flat, with a jump where the item passes one of the others. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.staircase = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDE", RELEVANT = [0, 1, 0, 1, 0], SCORES = [0.9, 0.8, 0.6, 0.4, 0.3], D = 3;
  const [FAR, LEFT, TOP, BASE, R] = [1.1, 34, 34, 214, 15];
  const start = { at: 0.4 };

  const scores = (at) => SCORES.map((score, i) => (i === D ? at : score));
  const loss = (at) => 1 - ranks.average_precision(scores(at), RELEVANT);
  const others = [4, 2, 1, 0]; // from the lowest to the highest
  const knots = [0, ...others.map((i) => SCORES[i]), FAR];

  let [across, drawn] = [null, FAR]; // how far the staircase is drawn, while the figure comes into sight
  function draw(state, width) {
    across = ui.scale([0, FAR], [LEFT, width - R]);
    const up = ui.scale([0, 0.6], [BASE - 36, TOP]);
    const at = drawn < FAR ? drawn : state.at, value = loss(at);
    const marks = [ui.tag("text", { x: 0, y: 14, class: "bold" }, "loss 1 − AP"), ui.key(width - 78, 14)];
    for (const level of [0, 0.2, 0.4, 0.6]) {
      marks.push(ui.tag("line", { x1: LEFT, x2: width, y1: up(level), y2: up(level), class: "axis" }));
      marks.push(ui.tag("text", { x: LEFT - 8, y: up(level) + 5, class: "soft", "text-anchor": "end" }, String(level)));
    }
    knots.slice(1).forEach((to, k) => {
      const from = knots[k], height = up(loss((from + to) / 2)), here = at >= from && at < to;
      if (from > drawn) return;
      if (k) marks.push(ui.tag("line", { x1: across(from), x2: across(from), y1: up(loss(from - 1e-6)), y2: height, class: "line dashed thin" }));
      marks.push(ui.tag("line", { x1: across(from), x2: across(Math.min(to, drawn)), y1: height, y2: height, class: here ? "tangent" : "line" }));
    });
    marks.push(ui.tag("line", { x1: across(at), x2: across(at), y1: up(value), y2: BASE - R, class: "line dashed thin" }));
    marks.push(ui.tag("circle", { cx: across(at), cy: up(value), r: 7, class: "yes" }));
    marks.push(ui.tag("text", { x: across(at), y: up(value) - 13, "text-anchor": "middle", class: "bold" }, "slope 0"));
    marks.push(ui.tag("line", { x1: LEFT, x2: width, y1: BASE, y2: BASE, class: "axis" }));
    for (const i of others) marks.push(ui.item(across(SCORES[i]), BASE, RELEVANT[i], NAMES[i], R - 2));
    marks.push(ui.item(across(at), BASE, true, "D", R), ui.tag("text", { x: width, y: BASE + 34, class: "soft", "text-anchor": "end" }, "higher score →"));
    handle.at(across(at), BASE, "Item D", `score ${ui.number(at)}, loss ${ui.number(value)}`, at, 0, FAR);
    picture.draw(width, marks.join(""), "The loss of the list over the score of D");
    const place = ranks.rank(scores(at))[D];
    return `D has the score ${ui.number(at)} and rank ${place}, and the loss is ${ui.number(value)}. If its score changes a little, the loss stays the same.`;
  }

  const play = ui.figure({ el, model, name: "staircase", start, draw, shown: ({ at }) => ({ loss: loss(at) }) });
  const picture = play.svg(BASE + 40);
  const put = (at) => play.set({ at: Number(ui.clamp(at, 0, FAR - 0.01).toFixed(3)) });
  const handle = play.handle(picture, { move: ({ x }) => put(across.back(x)), by: (dx, dy) => put(play.state.at + 0.02 * (dx || dy)) });
  ui.runsOnce(el, play, 1500, (share) => (drawn = share * FAR));
};
