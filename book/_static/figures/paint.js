/* The rank of D over its score, a staircase, and the mean of this staircase over a window of λ ahead: the interpolation. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.paint = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDE", D = 3, C = [0, 0, 0, 1, 0]; // the loss c · rk(y) is the rank of D
  const OTHERS = [0.9, 0.7, 0.5, NaN, 0.1];
  const [FAR, LEFT, TOP, BOTTOM, ITEMS, WINDOW, R] = [1.5, 24, 40, 200, 236, 276, 12];
  const start = { at: 0.36, lam: 0.15 };

  const scores = (at) => OTHERS.map((score, i) => (i === D ? at : score));
  const rank = (at) => ranks.rank(scores(at))[D];
  const mean = (at, lam) => ranks.interpolated(scores(at), C, lam);
  const others = [0, 1, 2, 4];

  let [across, painted] = [null, FAR]; // how far the curve is painted, while the figure comes into sight
  function draw({ at, lam }, width) {
    across = ui.scale([0, FAR], [LEFT, width - R]);
    const level = ui.scale([1, 5], [BOTTOM - 8, TOP]);
    const here = painted < FAR ? Math.min(painted, 1) : at;
    const [value, passed] = [mean(here, lam), others.filter((i) => OTHERS[i] > here && OTHERS[i] < here + lam)];
    const [left, right] = [across(here), across(here + lam)];
    const knots = [...others.map((i) => OTHERS[i])].sort((a, b) => a - b);
    const stairs = (from, to) => {
      const between = [from, ...knots.filter((knot) => knot > from && knot < to), to];
      return between.slice(1).flatMap((knot, k) => [between[k], knot].map((x) => `${across(x)},${level(rank((between[k] + knot) / 2))}`)).join(" ");
    };
    const marks = [
      ui.tag("text", { x: 0, y: 14, class: "bold" }, "rank of D"),
      ui.tag("text", { x: width, y: 14, class: "bold mean", "text-anchor": "end" }, `mean over the window: ${ui.number(value)}`),
      ui.tag("polygon", { points: `${left},${BOTTOM} ${stairs(here, here + lam)} ${right},${BOTTOM}`, class: "area" }),
      ui.tag("line", { x1: LEFT, x2: across(FAR), y1: BOTTOM, y2: BOTTOM, class: "axis" }),
    ];
    for (let place = 1; place <= 5; place += 1) marks.push(ui.tag("text", { x: LEFT - 10, y: level(place) + 5, class: "soft", "text-anchor": "end" }, String(place)));
    for (const i of passed) marks.push(ui.tag("line", { x1: across(OTHERS[i]), x2: across(OTHERS[i]), y1: level(rank(OTHERS[i] - 1e-6)), y2: ITEMS - R, class: "line red dashed fine" }));
    marks.push(ui.tag("polyline", { points: stairs(0, FAR), class: "line" }));
    const corners = [0, ...knots.flatMap((knot) => [knot - lam, knot]).filter((x) => x > 0 && x < painted).sort((a, b) => a - b), painted];
    marks.push(ui.tag("polyline", { points: corners.map((x) => `${across(x)},${level(mean(x, lam))}`).join(" "), class: "line mean thick" }));
    marks.push(ui.tag("line", { x1: left, x2: right, y1: level(value), y2: level(value), class: "line mean dashed" }));
    marks.push(ui.tag("circle", { cx: left, cy: level(value), r: 6, class: "dot mean" }));
    marks.push(ui.tag("line", { x1: LEFT, x2: across(FAR), y1: ITEMS, y2: ITEMS, class: "axis" }));
    marks.push(ui.tag("text", { x: across(FAR), y: ITEMS + 20, class: "soft", "text-anchor": "end" }, "score"));
    for (const i of others) marks.push(ui.item(across(OTHERS[i]), ITEMS, false, NAMES[i], R));
    marks.push(ui.item(left, ITEMS, true, "D", R));
    marks.push(ui.arrow(left, WINDOW, right, WINDOW));
    marks.push(ui.tag("text", right < width - 110 ? { x: right + 10, y: WINDOW + 5 } : { x: left - 10, y: WINDOW + 5, "text-anchor": "end" }, `λ = ${ui.number(lam)}`));
    picture.draw(width, marks.join(""), "The rank of D over its score, and its mean over the window ahead");
    handle.at(left, ITEMS, "Item D", `score ${ui.number(here)}, rank ${rank(here)}`, here);
    const names = passed.map((i) => NAMES[i]).reverse().join(" and ");
    const slope = passed.length ? `D passes ${names} in the window, so the slope is −${passed.length}/λ = ${ui.number(-passed.length / lam)}.` : "D passes no item in the window, so the mean is the rank, and the slope is zero.";
    return `At a score of ${ui.number(here)} the rank is ${rank(here)}, and its mean is ${ui.number(value)}. ${slope}`;
  }

  const play = ui.figure({ el, model, name: "paint", start, draw, shown: ({ at, lam }) => ({ mean: mean(at, lam) }) });
  const picture = play.svg(WINDOW + 12);
  const put = (at) => play.set({ at: Number(ui.clamp(at, 0, 1).toFixed(3)) });
  const handle = play.handle(picture, { move: ({ x }) => put(across.back(x)), by: (dx, dy) => put(play.state.at + 0.02 * (dx || dy)) });
  play.slider("lam", { label: "λ, the length of the window", low: 0.01, high: 0.5, log: true, ends: ["staircase", "slope"] });
  ui.runsOnce(el, play, 1700, (share) => (painted = share * FAR)); // D runs along and paints the curve
};
