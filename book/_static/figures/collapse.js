/* Eight scores follow the AP loss, without a margin and with one: how far apart they stop, and what errors then do to AP. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.collapse = ({ el, model, ranks, ui }) => {
  const SCORES = [0.8, 0.34, 0.62, 0.71, 0.52, 0.43, 0.25, 0.16], RELEVANT = SCORES.map((_, i) => i < 3);
  const [LAM, RATE, STEPS, SHAKES] = [20, 0.0193, 300, 24];
  const start = { margin: 0.03, error: 0.05 };
  // The middles of 16 equal parts of a normal distribution: each shake gives each item one of them.
  const NORMAL = [-1.86, -1.32, -1.01, -0.78, -0.58, -0.4, -0.24, -0.08, 0.08, 0.24, 0.4, 0.58, 0.78, 1.01, 1.32, 1.86];

  /* The gradient of 1 − AP by Algorithm 1, of scores that a margin has shifted: that of rankedu.losses.APLoss. */
  function gradient(y, margin) {
    const shifted = ranks.shift_by_margin(y, RELEVANT, margin);
    const [among, places] = [ranks.rank_among(shifted, RELEVANT), ranks.rank(shifted)];
    return ranks.rank_gradient(shifted, among.map((k, i) => k / (3 * places[i] ** 2)), LAM);
  }

  function descent(margin) {
    const way = [SCORES];
    for (let step = 0; step < STEPS; step += 1) {
      const slopes = gradient(way[step], margin);
      way.push(way[step].map((score, i) => score - RATE * slopes[i]));
    }
    return way;
  }

  const gap = (y) => Math.min(...y.filter((_, i) => RELEVANT[i])) - Math.max(...y.filter((_, i) => !RELEVANT[i]));
  const noisy = (y, error) => ranks.mean(Array.from({ length: SHAKES }, (_, turn) =>
    ranks.average_precision(y.map((score, i) => score + error * NORMAL[(7 * i * i + 5 * i + (turn + 1) * (2 * i + 3)) % 16]), RELEVANT)));

  const without = descent(0);
  let [withMargin, of, drawn] = [without, 0, STEPS];
  const lanes = () => [without, withMargin];

  function draw({ margin, error }, width) {
    if (of !== margin) [withMargin, of] = [descent(margin), margin];
    const [space, top, bottom] = [width > 500 ? 30 : 14, 30, 232];
    const wide = (width - space) / 2;
    const marks = lanes().flatMap((way, lane) => {
      const left = lane * (wide + space);
      const [across, up] = [ui.scale([0, STEPS], [left, left + wide - 74]), ui.scale([-0.1, 1.1], [bottom, top])];
      const last = way[STEPS];
      const [high, low] = [Math.min(...last.slice(0, 3)), Math.max(...last.slice(3))];
      const found = [
        ui.tag("text", { x: left, y: 14, class: "bold" }, lane ? `margin α = ${ui.number(margin)}` : "no margin"),
        ui.tag("line", { x1: left, x2: left + wide, y1: bottom, y2: bottom, class: "axis" }),
        ui.tag("text", { x: left, y: bottom + 16, class: "soft" }, "300 steps"),
        ui.tag("text", { x: left + wide, y: bottom + 16, class: "soft", "text-anchor": "end" }, width > 500 ? "measured" : "errors"),
        ui.tag("rect", { x: left, y: up(high), width: wide, height: Math.max(up(low) - up(high), 0), class: "area" }),
      ];
      way[0].forEach((_, i) => {
        const points = [];
        for (let step = 0; step <= drawn; step += 2) points.push(`${across(step).toFixed(1)},${up(way[step][i]).toFixed(1)}`);
        found.push(ui.tag("polyline", { points: points.join(" "), class: RELEVANT[i] ? "line blue" : "line red dashed" }));
        const x = left + wide - 62 + 8 * i;
        if (drawn < STEPS) return;
        found.push(ui.tag("line", { x1: x, x2: x, y1: up(last[i] - 1.86 * error), y2: up(last[i] + 1.86 * error), class: `line ${RELEVANT[i] ? "blue" : "red"}` }));
        found.push(RELEVANT[i] ? ui.tag("circle", { cx: x, cy: up(last[i]), r: 4, class: "yes" }) : ui.tag("rect", { x: x - 3, y: up(last[i]) - 3, width: 6, height: 6, class: "no" }));
      });
      found.push(ui.tag("text", { x: left, y: bottom + 38 }, `AP ${ui.number(ranks.average_precision(last, RELEVANT))}, gap ${ui.number(gap(last))}`));
      found.push(ui.tag("text", { x: left, y: bottom + 57, class: "bold" }, `with errors: AP ${ui.number(noisy(last, error))}`));
      return found;
    });
    picture.draw(width, marks.join(""), "The scores of eight items while they follow the AP loss, without a margin and with one");
    const [a, b] = lanes().map((way) => ui.number(gap(way[STEPS])));
    return `Both lists end sorted. Without a margin the gap between the two kinds is ${a}, with α = ${ui.number(margin)} it is ${b}.`;
  }

  const play = ui.figure({
    el, model, name: "collapse", start, draw,
    shown: ({ error }) => ({ gaps: lanes().map((way) => gap(way[STEPS])), with_errors: lanes().map((way) => noisy(way[STEPS], error)) }),
  });
  const picture = play.svg(304);
  play.slider("margin", { label: "α, the margin", low: 0.01, high: 0.3 });
  play.slider("error", { label: "error in each score", low: 0.01, high: 0.1 });

  ui.runsOnce(el, play, 1500, (share) => (drawn = 2 * Math.round((share * STEPS) / 2))); // the descent
};
