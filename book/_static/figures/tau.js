/* The temperature of Smooth-AP: every pair of a relevant and an irrelevant item as a point on the sigmoid of its
   difference, and which of these pairs are so near that it has a slope. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.tau = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDE", RELEVANT = [0, 1, 0, 1, 0];
  const start = { scores: [0.9, 0.8, 0.6, 0.4, 0.3], tau: 0.03 };
  const THRESHOLD = 0.005; // of the slope, as in the paper
  const PAIRS = RELEVANT.flatMap((own, k) => (own ? RELEVANT.flatMap((other, j) => (other ? [] : [[k, j]])) : []));
  const slope = (x, tau) => (ranks.sigmoid(x / tau) * ranks.sigmoid(-x / tau)) / tau;

  function draw(state, width) {
    const { scores, tau } = state;
    const wide = width > 560, plot = wide ? width - 230 : width, high = wide ? 366 : 398, up = wide ? 0 : 24;
    const places = ranks.rank(scores);
    const [line, axis] = list(width, 44, (i) => `rank ${places[i]}`);
    const x = ui.scale([-1, 1], [34, plot - 10]), y = ui.scale([0, 1], [230 - up, 122 - up / 3]);
    const steepest = 1 / (4 * tau), base = 300 - up;
    const near = 4 * tau * THRESHOLD < 1 ? 2 * tau * Math.acosh(Math.sqrt(steepest / THRESHOLD)) : 0;
    const [from, to] = [x(Math.max(-near, -1)), x(Math.min(near, 1))];
    const marks = [ui.tag("rect", { x: from, y: 92, width: to - from, height: base - 92, class: "region" })];
    for (const share of [0, 0.5, 1]) {
      marks.push(ui.tag("line", { x1: x(-1), x2: x(1), y1: y(share), y2: y(share), class: "axis" }));
      marks.push(ui.tag("text", { x: 26, y: y(share) + 4, class: "soft", "text-anchor": "end" }, share === 0.5 ? "½" : String(share)));
    }
    const along = Array.from({ length: 201 }, (_, k) => Math.sign(k - 100) * ((k - 100) / 100) ** 2); // denser in the middle
    const path = (height) => along.map((d) => `${x(d).toFixed(1)},${height(d).toFixed(1)}`).join(" ");
    marks.push(ui.tag("polyline", { points: `${x(-1)},${y(0)} ${x(0)},${y(0)} ${x(0)},${y(1)} ${x(1)},${y(1)}`, class: "line dashed thin" }));
    marks.push(ui.tag("polyline", { points: path((d) => y(ranks.sigmoid(d / tau))), class: "line" }));
    marks.push(ui.tag("line", { x1: x(-1), x2: x(1), y1: base, y2: base, class: "axis" }));
    marks.push(ui.tag("polyline", { points: path((d) => base - (50 * slope(d, tau)) / steepest), class: "line thin" }));
    // Every pair has its name: the difference that it is.
    const differences = PAIRS.map(([k, j]) => scores[j] - scores[k]);
    const labels = ui.apart(differences.map(x), 36, 50, plot - 16);
    PAIRS.forEach(([k, j], pair) => {
      const d = differences[pair], at = y(ranks.sigmoid(d / tau));
      marks.push(ui.tag("path", { d: `M${labels[pair]},${88} L${x(d)},${Math.max(at - 8, 92)} V${at}`, class: "axis" }));
      marks.push(ui.tag("text", { x: labels[pair], y: 84, "text-anchor": "middle", class: slope(d, tau) > THRESHOLD ? "bold" : "soft" }, `${NAMES[j]}−${NAMES[k]}`));
    });
    let close = 0;
    const held = NAMES[[...picture.handles.children].indexOf(document.activeElement)];
    for (const [k, j] of PAIRS) {
      const d = scores[j] - scores[k], rise = slope(d, tau);
      const on = rise > THRESHOLD, own = held === NAMES[k] || held === NAMES[j] ? " of" : "";
      close += on;
      if (on) marks.push(ui.tag("rect", { x: x(d) - 2.5, y: base - Math.max(1.5, (50 * rise) / steepest), width: 5, height: Math.max(1.5, (50 * rise) / steepest), class: "pair" }));
      marks.push(ui.tag("circle", { cx: x(d), cy: y(ranks.sigmoid(d / tau)), r: 6, class: `pair${on ? "" : " far"}${own}` }));
    }
    marks.push(ui.tag("text", { x: x(-1), y: 244 - up, class: "soft" }, "slope"));
    for (const d of [-1, 0, 1]) marks.push(ui.tag("text", { x: x(d), y: base + 17, class: "soft", "text-anchor": ["start", "middle", "end"][d + 1] }, ui.number(d, 0)));
    marks.push(ui.tag("text", { x: x(-1), y: base + 35, class: "soft" }, "irrelevant score minus relevant score"));
    const [exact, smooth] = [ranks.average_precision(scores, RELEVANT), ranks.smooth_ap(scores, RELEVANT, tau)];
    const lines = [["AP", exact, ui.number(exact), " full"], ["Smooth-AP", smooth, ui.number(smooth), " full mean"], ["with a slope", close / PAIRS.length, `${close} of ${PAIRS.length}`, " full pairs"]];
    lines.forEach(([name, value, words, kind], row) => {
      const [left, top] = wide ? [plot + 24, 122 + row * 62] : [0, base + 60 + row * 24];
      const [begin, end, level] = wide ? [left, width - 4, top + 14] : [130, width - 68, top - 4];
      marks.push(ui.tag("text", { x: left, y: top, class: "bold" }, name), ui.tag("text", { x: width, y: top, class: "bold", "text-anchor": "end" }, words));
      marks.push(ui.tag("line", { x1: begin, x2: end, y1: level, y2: level, class: "track" }));
      if (value) marks.push(ui.tag("line", { x1: begin, x2: begin + value * (end - begin), y1: level, y2: level, class: `track${kind}` }));
    });
    picture.draw(width, line + marks.join(""), "Pairs of items on a sigmoid of their difference", high);
    const off = Math.abs(Number(ui.number(smooth)) - Number(ui.number(exact))); // of the numbers that are shown
    return `τ = ${ui.number(tau, tau < 0.1 ? 3 : 2)}: ${close} of ${PAIRS.length} pairs have a slope. Smooth-AP is ${off < 0.005 ? "as large as AP" : `${ui.number(off)} ${smooth < exact ? "below" : "above"} AP`}.`;
  }

  const play = ui.figure({
    el, model, name: "tau", start, draw,
    shown: ({ scores, tau }) => ({ average_precision: ranks.average_precision(scores, RELEVANT), smooth_ap: ranks.smooth_ap(scores, RELEVANT, tau) }),
  });
  const picture = play.svg(366);
  const list = play.list(picture, NAMES, RELEVANT);
  play.slider("tau", { label: "temperature τ", low: 0.001, high: 1, log: true, format: (value) => ui.number(value, value < 0.1 ? 3 : 2), ends: ["staircase", "blurred"] });
};
