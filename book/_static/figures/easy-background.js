/* Ten cars, one shop window and much easy background: what cross entropy and 1 - AP of the same scores are made of. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures["easy-background"] = ({ el, model, ranks, ui }) => {
  const CARS = Array.from({ length: 10 }, (_, i) => -1 + (5 * i) / 9); // scores in log-odds, from hard to easy
  const [LOW, HIGH, BINS] = [-9.5, 5.5, 45];
  const TICKS = [[-6.907, "0.001"], [-4.595, "0.01"], [-2.197, "0.1"], [0, "0.5"], [2.197, "0.9"], [4.595, "0.99"]];
  const start = { ratio: 3, window: 1.73 };
  const softplus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const percent = (share) => `${Math.round(100 * share)} %`;

  /* The quantiles of a logistic distribution around -5. */
  function background(ratio) {
    const count = Math.round(ratio * CARS.length);
    return Array.from({ length: count }, (_, i) => -5 + 0.5 * Math.log((i + 0.5) / (count - i - 0.5)));
  }

  /* Cross entropy and 1 - AP, each with the parts of the cars, the window and the background. */
  function judged({ ratio, window }) {
    const scores = [...CARS, window, ...background(ratio)];
    const parts = (terms) => [terms.slice(0, CARS.length), [terms[CARS.length]], terms.slice(CARS.length + 1)].map(total);
    const entropy = parts(scores.map((x, i) => softplus(i < CARS.length ? -x : x) / scores.length));
    const places = ranks.rank(scores);
    const charges = scores.map((x, i) => (i < CARS.length ? 0 : total(CARS.map((car, k) => (car < x ? 1 / places[k] : 0))) / CARS.length));
    return { entropy, missing: parts(charges), ap: ranks.average_precision(scores, scores.map((_, i) => i < CARS.length)) };
  }

  let axis = null;
  function draw(state, width) {
    const { entropy, missing, ap } = judged(state);
    const base = 196;
    axis = ui.scale([LOW, HIGH], [0, width]);
    const level = ui.scale([0, Math.log10(1000)], [base, 100]);
    const counts = new Array(BINS).fill(0);
    const easy = background(state.ratio);
    easy.forEach((x) => (counts[Math.floor(((x - LOW) / (HIGH - LOW)) * BINS)] += 1));
    const step = width / BINS;
    const marks = counts.map((count, k) => (count ? ui.tag("rect", { x: k * step, y: level(Math.log10(1 + count)), width: step - 1, height: base - level(Math.log10(1 + count)), class: "easy" }) : ""));
    marks.push(
      ui.tag("line", { x1: 0, x2: width, y1: base, y2: base, class: "axis" }),
      ui.tag("text", { x: 0, y: 102, class: "soft" }, `${easy.length.toLocaleString("en")} easy proposals`),
      ui.tag("text", { x: 0, y: base + 36, class: "soft" }, "score: probability of a car (the height of the heap: logarithmic)"),
    );
    for (const [at, words] of TICKS) marks.push(ui.tag("text", { x: axis(at), y: base + 17, class: "soft", "text-anchor": "middle" }, words));
    for (const car of CARS) marks.push(ui.tag("circle", { cx: axis(car), cy: 76, r: width > 500 ? 7 : 5, class: "yes" }));
    marks.push(ui.tag("text", { x: axis(CARS[0]) - 14, y: 81, class: "bold", "text-anchor": "end" }, "10 cars"));
    const x = axis(state.window);
    marks.push(
      ui.tag("line", { x1: x, x2: x, y1: 38, y2: base, class: "line dashed thin" }),
      ui.tag("rect", { x: x - 12, y: 14, width: 24, height: 24, class: "no" }),
      ui.tag("text", { x: x - 27, y: 31, class: "no", "text-anchor": "end" }, "shop window"),
    );
    const probability = 1 / (1 + Math.exp(-state.window));
    handle.at(x, 26, "Shop window", `probability of a car ${ui.number(probability)}`, state.window, LOW, HIGH);
    [["cross entropy", total(entropy), entropy], ["1 − AP", 1 - ap, missing]].forEach(([name, value, parts], row) => {
      const y = base + 68 + 50 * row;
      marks.push(ui.tag("text", { x: 0, y: y - 6, class: "bold" }, `${name} ${value.toFixed(3)}`));
      if (value < 1e-9) marks.push(ui.tag("text", { x: 0, y: y + 16, class: "soft" }, "nothing is missing"));
      let from = 0;
      ["cars", "window", "easy"].forEach((kind, k) => {
        const size = value < 1e-9 ? 0 : (width * parts[k]) / value;
        if (size < 0.5) return;
        marks.push(ui.tag("rect", { x: from, y, width: size, height: 24, class: `part ${kind}` }));
        const words = [`${kind} ${percent(parts[k] / value)}`, percent(parts[k] / value)].find((one) => 8 * one.length < size);
        if (words) marks.push(ui.tag("text", { x: from + size / 2, y: y + 17, "text-anchor": "middle", class: kind === "easy" ? "bold" : "on" }, words));
        from += size;
      });
    });
    picture.draw(width, marks.join(""), "Scores of proposals, and two losses divided among them", base + 150);
    const [first, second] = [entropy, missing].map((parts) => percent(parts[2] / Math.max(total(parts), 1e-9)));
    const above = easy.filter((one) => one > CARS[0]).length;
    return `${first} of cross entropy and ${second} of 1 − AP come from easy background, of which ${above || "none"} ranks above a car.`;
  }

  const play = ui.figure({
    el, model, name: "easy-background", start, draw,
    shown: (state) => {
      const { entropy, ap } = judged(state);
      return { cross_entropy: total(entropy), average_precision: ap };
    },
  });
  const picture = play.svg(340);
  const put = (window) => play.set({ window: Number(ui.clamp(window, LOW + 1, HIGH - 0.5).toFixed(3)) });
  const handle = play.handle(picture, { move: ({ x }) => put(axis.back(x)), by: (dx, dy) => put(play.state.window + 0.1 * (dx || dy)) });
  play.slider("ratio", { label: "easy background per car", low: 1, high: 300, log: true, format: (value) => String(Math.round(value)), ends: ["little", "much"] });
};
