/* FastAP's bins: a relevant item moves over the ruler; its shares in two bins, and the loss along its way. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.bins = ({ el, model, ranks, ui }) => {
  const FIXED = [0.62, 0.08, 0.81, 0.7, 0.45, 0.33, 0.17, -0.11, -0.35, -0.62], RELEVANT = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0];
  const start = { bins: 10, score: -0.3 };
  const LOW = -0.95, HIGH = 0.98;
  const at = (score) => [score, ...FIXED];
  const fast = (score, bins) => 1 - ranks.fast_ap(at(score), RELEVANT, bins);
  const exact = (score) => 1 - ranks.average_precision(at(score), RELEVANT);
  const way = Array.from({ length: 400 }, (_, k) => LOW + ((HIGH - LOW) * k) / 399);
  let [curve, of] = [[], 0];

  function draw(state, width) {
    const { bins, score } = state;
    const x = ui.scale([-1, 1], [34, width - 16]), y = ui.scale([0.8, 0.3], [188, 330]);
    if (of !== bins) [curve, of] = [way.map((one) => fast(one, bins)), bins];
    const all = ranks.soft_histogram(at(score), bins), among = ranks.soft_histogram(at(score).filter((_, i) => RELEVANT[i]), bins);
    const count = ui.scale([0, Math.max(2.5, ...all)], [126, 22]);
    const own = ranks.soft_histogram([score], bins), wide = (x(1) - x(-1)) / bins, half = Math.max(1, 0.42 * wide);
    const marks = [ui.tag("text", { x: 34, y: 12, class: "soft" }, "items in each bin"), ui.key(width - 78, 12)];
    all.forEach((counted, centre) => {
      const middle = x(1 - (2 * centre) / bins), [left, right] = [Math.max(middle - half, x(-1)), Math.min(middle + half, x(1))];
      const bar = (low, high, kind) => high > low && marks.push(ui.tag("rect", { x: left, y: count(high), width: right - left, height: count(low) - count(high), class: kind }));
      bar(0, among[centre] - own[centre], "area yes");
      bar(among[centre] - own[centre], among[centre], "yes");
      bar(among[centre], counted, "down pale");
    });
    marks.push(ui.tag("line", { x1: x(-1), x2: x(1), y1: 126, y2: 126, class: "line" }));
    FIXED.forEach((one, i) => marks.push(RELEVANT[i + 1] ? ui.tag("circle", { cx: x(one), cy: 150, r: 7, class: "yes faint" }) : ui.tag("rect", { x: x(one) - 6, y: 144, width: 12, height: 12, class: "no" })));
    const [value, slope] = [fast(score, bins), ui.slopes(([one]) => fast(one, bins), [score])[0]];
    for (const level of [0.4, 0.6, 0.8]) {
      marks.push(ui.tag("line", { x1: 34, x2: width - 16, y1: y(level), y2: y(level), class: "axis" }));
      marks.push(ui.tag("text", { x: 28, y: y(level) + 4, class: "soft", "text-anchor": "end" }, String(level)));
    }
    const path = (values) => values.map((height, k) => `${x(way[k]).toFixed(1)},${y(height).toFixed(1)}`).join(" ");
    marks.push(ui.tag("polyline", { points: path(way.map(exact)), class: "line" }), ui.tag("polyline", { points: path(curve), class: "line sky" }));
    marks.push(ui.tag("line", { x1: x(score), x2: x(score), y1: 150, y2: y(value), class: "line dashed thin" }));
    const run = 0.12 / Math.hypot(1, 3 * slope), ends = [score - run, score + run].map((one) => [x(one), y(value + slope * (one - score))]);
    marks.push(ui.tag("line", { x1: ends[0][0], y1: ends[0][1], x2: ends[1][0], y2: ends[1][1], class: "tangent" }), ui.tag("circle", { cx: x(score), cy: y(value), r: 6, class: "yes" }));
    marks.push(ui.tag("text", { x: 34, y: 348, class: "soft" }, "loss of the list, by the score of the disc →"));
    marks.push(ui.tag("line", { x1: 34, x2: 54, y1: 366, y2: 366, class: "line" }), ui.tag("text", { x: 60, y: 370 }, `1 − AP = ${ui.number(exact(score))}`));
    marks.push(ui.tag("line", { x1: 180, x2: 200, y1: 366, y2: 366, class: "line sky" }), ui.tag("text", { x: 206, y: 370 }, `FastAP ${ui.number(value)}`));
    marks.push(ui.tag("circle", { cx: x(score), cy: 150, r: 13, class: "yes" }), ui.tag("text", { x: x(score), y: 155, "text-anchor": "middle", class: "on" }, "↔"));
    handle.at(x(score), 150, "The moving item", `score ${ui.number(score)}, slope ${ui.number(slope)}`, score, LOW, HIGH);
    picture.draw(width, marks.join(""), "The bins of FastAP, and its loss as one item moves", 380);
    const goes = slope < -0.005 ? "raises the item" : slope > 0.005 ? "lowers the item, although it is relevant" : "leaves the item where it is";
    return `${bins} bins: a descent step ${goes}. The slope is ${ui.number(slope)}.`;
  }

  const put = (score) => play.set({ score: Number(ui.clamp(score, LOW, HIGH).toFixed(3)) });
  const play = ui.figure({ el, model, name: "bins", start, draw, shown: ({ score, bins }) => ({ loss: fast(score, bins), exact: exact(score) }) });
  const picture = play.svg(380);
  const handle = play.handle(picture, {
    move: ({ x }) => put(-1 + ((x - 34) / (play.stage.clientWidth - 50)) * 2), by: (dx, dy) => put(play.state.score + 0.02 * (dx || dy)),
  });
  play.slider("bins", { label: "number of bins", low: 2, high: 40, step: 1, format: String, ends: ["coarse", "fine"] });
};
