/* Batches drawn from 1,024 items: the histogram of their mAP grows, and stands beside the truth. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures["batch-size"] = ({ el, model, ranks, ui }) => {
  const [CLASSES, EACH, WIDE, NOISE, DRAWS, BINS] = [64, 16, 12, 0.26, 400, 40];
  const items = CLASSES * EACH;

  /* Numbers from 0 to 1 that look random and are the same on every machine (mulberry32). */
  function random(seed) {
    return () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  /* 64 classes of 16 items: points around their class's centre on a sphere; item i is of class i % 64. */
  const chance = random(5);
  const normal = () => Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
  const vector = () => Array.from({ length: WIDE }, normal);
  const unit = (point) => point.map((x) => x / Math.hypot(...point));
  const centres = Array.from({ length: CLASSES }, () => unit(vector()));
  const points = Array.from({ length: items }, (_, i) => unit(vector().map((x, k) => centres[i % CLASSES][k] + NOISE * x)));
  const alike = points.map((a) => Float64Array.from(points, (b) => a.reduce((sum, x, k) => sum + x * b[k], 0)));

  /* The mean AP of queries, each of which ranks a list without itself; NaN if none finds anything relevant in its list. */
  function meanAP(queries, list) {
    const found = [];
    for (const query of queries) {
      const others = list.filter((item) => item !== query);
      const relevant = others.map((item) => item % CLASSES === query % CLASSES);
      if (relevant.includes(true)) found.push(ranks.average_precision(others.map((item) => alike[query][item]), relevant));
    }
    return ranks.mean(found);
  }

  const all = [...Array(items).keys()];
  let truth = NaN;

  function shuffled(values, chance, count) {
    const mixed = [...values];
    for (let i = 0; i < count; i += 1) {
      const j = i + Math.floor(chance() * (mixed.length - i));
      [mixed[i], mixed[j]] = [mixed[j], mixed[i]];
    }
    return mixed.slice(0, count);
  }

  /* A batch of random items, or of random classes with so many items each. */
  function batch({ batch_size, per_class }, chance) {
    const each = Math.min(per_class, batch_size, EACH);
    if (each === 1) return shuffled(all, chance, batch_size);
    const classes = shuffled([...Array(CLASSES).keys()], chance, Math.min(CLASSES, batch_size / each));
    const most = Math.min(EACH, batch_size / classes.length); // 1,024 items have 16 of each class
    return classes.flatMap((own) => shuffled([...Array(EACH).keys()], chance, most).map((k) => own + CLASSES * k));
  }

  const start = { batch_size: 64, per_class: 1, memory: 0 };
  let [drawn, before, now, key, chanceOf, waiting] = [[], [], [], "", null, 0];

  function drawOne(state) {
    now = batch(state, chanceOf);
    drawn.push(meanAP(now, [...new Set([...now, ...before.flat()])]));
    before = [now, ...before].slice(0, state.memory);
  }

  function draw(state, width) {
    if (Number.isNaN(truth)) truth = meanAP(all, all);
    if (key !== `${state.batch_size} ${state.per_class} ${state.memory}`) {
      key = `${state.batch_size} ${state.per_class} ${state.memory}`;
      [drawn, before, now] = [[], [], []];
      chanceOf = random(Math.log2(state.batch_size) * 100 + state.per_class * 10 + state.memory);
      for (let k = 0; k < state.memory; k += 1) before.push(batch(state, chanceOf));
    }
    const begun = performance.now();
    const most = state.batch_size >= 512 ? 40 : DRAWS; // so large batches say the same each time
    while (drawn.length < most) {
      drawOne(state);
      if (performance.now() - begun > (ui.still() ? 400 : drawn.length < 5 ? 0 : 6)) break;
    }
    if (drawn.length < most) {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => play.set({}, { kept: false }));
    }
    dots(state, width);
    return histogram(state, width);
  }

  /* A column for each class: the batch dark, what the memory keeps pale. */
  function dots(state, width) {
    const step = width / CLASSES, down = Math.min(step, 6.5), size = Math.min(step, down) * 0.36;
    const context = canvas(width, down * EACH + 18);
    const inside = new Set(now), kept = new Set(before.flat());
    context.fillStyle = play.colour("soft");
    context.font = "13px system-ui, sans-serif";
    context.fillText(width > 500 ? `1,024 items, a column for each class. Blue: the batch.${state.memory ? " Teal: the memory." : ""}` : `1,024 items. Blue: the batch.${state.memory ? " Teal: the memory." : ""}`, 0, 11);
    const hues = ["line", "sky", "blue"].map(play.colour);
    all.forEach((item) => {
      const which = inside.has(item) ? 2 : kept.has(item) && state.memory ? 1 : 0;
      context.fillStyle = hues[which];
      context.beginPath();
      context.arc((item % CLASSES) * step + step / 2, Math.floor(item / CLASSES) * down + down / 2 + 18, size * (which ? 1.3 : 0.8), 0, 7);
      context.fill();
    });
  }

  function histogram(state, width) {
    const high = width > 500 ? 210 : 175;
    const seen = drawn.filter((value) => !Number.isNaN(value));
    const mean = ranks.mean(seen);
    const counts = new Array(BINS).fill(0);
    seen.forEach((value) => (counts[Math.min(BINS - 1, Math.floor(value * BINS))] += 1));
    const most = Math.max(...counts, 4);
    const [x, y] = [ui.scale([0, 1], [8, width - 8]), ui.scale([0, most], [high - 36, 44])];
    const bars = counts.map((count, k) => count && ui.tag("rect", { x: x(k / BINS) + 0.5, y: y(count), width: x(1 / BINS) - x(0) - 1, height: y(0) - y(count), class: "bar" }));
    const marks = bars.filter(Boolean);
    marks.push(ui.tag("line", { x1: x(0), x2: x(1), y1: y(0), y2: y(0), class: "axis" }));
    for (const at of [0, 0.25, 0.5, 0.75, 1]) marks.push(ui.tag("text", { x: x(at), y: high - 20, class: "soft", "text-anchor": ["start", "middle", "middle", "middle", "end"][at * 4] }, String(at)));
    marks.push(ui.tag("text", { x: x(0), y: high - 3, class: "soft" }, "mAP of a batch"));
    const label = (value, row, words, kind) => {
      const end = x(value) + 7.5 * words.length > width ? "end" : "start";
      marks.push(ui.tag("line", { x1: x(value), x2: x(value), y1: 8 + 18 * row, y2: y(0), class: `line ${kind}` }));
      marks.push(ui.tag("text", { x: x(value) + (end === "end" ? -6 : 6), y: 17 + 18 * row, class: `bold ${kind}`, "text-anchor": end }, words));
    };
    label(truth, 0, `the truth ${ui.number(truth)}`, "dashed");
    if (seen.length) label(mean, 1, `mean ${ui.number(mean)}${width > 500 ? ` of ${drawn.length} batches` : ""}`, "mean");
    picture.draw(width, marks.join(""), "Histogram of the mAP of batches", high);
    const empty = drawn.length - seen.length;
    const none = empty ? ` ${empty} of ${drawn.length} batches have no query with a relevant item.` : "";
    const apart = Number(ui.number(mean)) - Number(ui.number(truth)); // of the numbers that are shown
    const off = seen.length ? `The mean is ${Math.abs(apart) < 0.005 ? "right" : `${ui.number(Math.abs(apart))} ${apart > 0 ? "too high" : "too low"}`}.` : "";
    return `Each query ranks ${Math.min(items, (1 + state.memory) * state.batch_size) - 1} items. ${off}${none}`;
  }

  const play = ui.figure({
    el, model, name: "batch-size", start, draw,
    shown: () => ({ truth, mean: ranks.mean(drawn.filter((value) => !Number.isNaN(value))), draws: drawn.length }),
  });
  const canvas = play.canvas();
  const picture = play.svg(210);
  const whole = (value) => value.toLocaleString("en");
  play.slider("batch_size", { label: "batch size", low: 4, high: 1024, powers: true, format: whole });
  play.slider("per_class", { label: "items per class in a batch", low: 1, high: 16, powers: true, format: (value) => (value === 1 ? "random" : String(value)) });
  play.slider("memory", { label: "memory, in batches", low: 0, high: 7, step: 1, format: whole });
};
