/* A list of relatives to drag: H-AP as the filled part of bars, one for each item, for any exponent of the relevance. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures["h-ap"] = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDEFG";
  const CARS = ["lorry", "Prius", "Lada #9", "Lada #2"]; // the query is a Lada #2; by how many classes each shares with it
  const LEAF = CARS.length - 1;
  const start = { scores: [0.93, 0.79, 0.65, 0.51, 0.37, 0.23, 0.09], levels: [2, 1, 3, 0, 2, 3, 1], alpha: 1 };
  const n = NAMES.length;

  function measured({ scores, levels, alpha }) {
    const rel = ranks.relevance(levels, alpha);
    return [
      ["H-AP", ranks.hierarchical_average_precision(scores, rel)],
      ["AP of Lada #2", ranks.average_precision(scores, levels.map((level) => level === LEAF))],
      ["NDCG", ranks.ndcg(scores, rel)],
    ];
  }

  const LEVELS = ["level0", "level1", "level2", "level3"]; // whole names, by which the book's build keeps their colours

  /* An item: the number is its level, and the leaf is a disc. */
  const mark = (x, y, level, r) =>
    ui.tag("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: (r * level) / LEAF, class: LEVELS[level] }) +
    ui.tag("text", { x, y: y + 5, "text-anchor": "middle", class: "bold" }, String(level));

  let before = []; // the metrics when the reader took hold of an item
  function draw(state, width) {
    const { scores, levels, alpha } = state;
    const wide = width > 560;
    const plot = wide ? width - 230 : width; // the list; beside or below it, the metrics
    const [top, tall, left] = [26, wide ? 36 : 32, 138], bottom = top + n * tall;
    const [places, inOrder, rel] = [ranks.rank(scores), ranks.order(scores), ranks.relevance(levels, alpha)];
    const across = ui.scale([0, Math.max(...rel)], [left, plot - 78]);
    const shares = ranks.h_rank(scores, rel).map((share, k) => share / places[k]);
    const metrics = measured(state);
    const says = (i) => `${CARS[levels[i]]}, score ${ui.number(scores[i])}, rank ${places[i]}, H-rank / rank ${ui.number(shares[i])} of ${ui.number(rel[i])}`;
    const [items, level] = ladder(top, bottom, (x, y, i) => mark(x, y, levels[i], 13), says);
    const marks = [ui.tag("text", { x: 70, y: 16, class: "soft" }, "rank"), ui.tag("text", { x: plot, y: 16, class: "soft", "text-anchor": "end" }, "filled of relevance")];
    places.forEach((place, k) => {
      const y = top + (place - 0.5) * tall, part = (across(rel[k]) - left) / place;
      marks.push(ui.tag("path", { d: `M40,${level(scores[k])} C56,${level(scores[k])} 48,${y} 64,${y}`, class: "axis" }));
      marks.push(ui.tag("text", { x: 70, y: y + 5, class: levels[k] === LEAF ? "bold" : "" }, `${place} ${CARS[levels[k]]}`));
      inOrder.slice(0, rel[k] ? place : 0).forEach((j, above) => {
        const share = Math.min(rel[j], rel[k]) / rel[k];
        if (share) marks.push(ui.tag("rect", { x: left + above * part, y: y - 11, width: part * share, height: 22, class: `tile ${LEVELS[levels[j]]}` }));
        marks.push(ui.tag("rect", { x: left + above * part, y: y - 11, width: part, height: 22, class: "box fine" }));
      });
      marks.push(ui.tag("text", { x: plot, y: y + 5, "text-anchor": "end", class: rel[k] ? "" : "soft" }, rel[k] ? `${ui.number(shares[k])} of ${ui.number(rel[k])}` : "irrelevant"));
    });
    marks.push(ui.bars(metrics, width, ...(wide ? [plot + 40, 80] : [0, bottom + 20]), before));
    picture.draw(width, marks.join("") + items, "A list of cars, and its hierarchical average precision", bottom + (wide ? 8 : 66));
    const [whole, leaf] = [0, 1].map((row) => metrics[row][1] - (before.length ? before[row] : metrics[row][1]));
    const way = (change) => `${change > 0 ? "rises" : "falls"} by ${ui.number(Math.abs(change))}`;
    const [sum, most] = [shares, rel].map((values) => ui.number(ranks.mean(values) * n));
    if (whole * leaf < -1e-5) return `AP of Lada #2 ${way(leaf)} with this move, and H-AP ${way(whole)}. They disagree.`;
    return `The bars are filled to ${sum} of ${most}, so H‑AP is ${ui.number(metrics[0][1])}.`;
  }

  const play = ui.figure({
    el, model, name: "h-ap", start, draw,
    shown: (state) => {
      const [h_ap, ap] = measured(state).map(([, value]) => value);
      return { h_ap, average_precision: ap };
    },
  });
  const picture = play.svg(400);
  const take = () => (before = measured(play.state).map(([, value]) => value));
  function turn(i) {
    const levels = play.state.levels.map((old, k) => (k === i ? (old + LEAF) % (LEAF + 1) : old));
    if (levels.includes(LEAF)) play.set({ levels });
  }
  const ladder = play.ladder(picture, NAMES, { tap: turn, take });
  const slider = play.slider("alpha", { label: "exponent β", low: 0.1, high: 10, log: true, ends: ["every relative counts", "only Lada #2 counts"] });
  slider.addEventListener("pointerdown", () => (before = []));
};
