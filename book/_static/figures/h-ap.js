/* A list of relatives to drag: H-AP as the filled part of boxes, one for each item, for any exponent of the relevance. */
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

  let [axis, before] = [null, []]; // before: the metrics when the reader took hold of an item
  function draw(state, width) {
    const { scores, levels, alpha } = state;
    const wide = width > 560;
    const plot = wide ? width - 230 : width; // the boxes; beside or below them, the metrics
    axis = ui.scale([1, 0], [24, width - 24]);
    const column = ui.scale([0.5, n + 0.5], [0, plot]);
    const half = (column(1) - column(0)) * 0.41;
    const [places, inOrder, rel] = [ranks.rank(scores), ranks.order(scores), ranks.relevance(levels, alpha)];
    const [base, tall] = wide ? [330, 180] : [262, 116];
    const shares = ranks.h_rank(scores, rel).map((share, k) => share / places[k]);
    const metrics = measured(state);
    const line = wide ? 66 : 80; // the scores
    const marks = CARS.map((car, level) => {
      const at = LEAF - level;
      const [x, y] = wide ? [(at * width) / 4, 0] : [(at % 2) * (width / 2), 20 * Math.floor(at / 2)];
      const worth = levels.includes(level) ? ui.number(rel[levels.indexOf(level)]) : "none";
      return mark(x + 9, y + 9, level, 9) + ui.tag("text", { x: x + 26, y: y + 14 }, `${car}, rel ${worth}`);
    });
    marks.push(
      ui.tag("text", { x: 0, y: line - 22, class: "soft" }, "high score"), ui.tag("text", { x: width, y: line - 22, class: "soft", "text-anchor": "end" }, "low score"),
      ui.tag("line", { x1: 0, x2: width, y1: line, y2: line, class: "axis" }),
    );
    places.forEach((place, k) => {
      const x = column(place);
      const high = (tall * rel[k]) / Math.max(...rel);
      marks.push(ui.tag("path", { d: `M${axis(scores[k])},${line + 16} C${axis(scores[k])},${line + 42} ${x},${base - tall - 42} ${x},${base - high - 22}`, class: "axis" }));
      inOrder.slice(0, rel[k] ? place : 0).forEach((j, above) => {
        const [share, row] = [Math.min(rel[j], rel[k]) / rel[k], high / place];
        if (share) marks.push(ui.tag("rect", { x: x - half, y: base - high + above * row, width: 2 * half * share, height: row, class: `tile ${LEVELS[levels[j]]}` }));
      });
      marks.push(ui.tag("rect", { x: x - half, y: base - high, width: 2 * half, height: high, class: "box" }));
      marks.push(ui.tag("text", { x, y: base - high - 7, "text-anchor": "middle", class: "bold" }, rel[k] ? ui.number(shares[k]) : "0"));
      marks.push(mark(x, base + 14, levels[k], 9), ui.tag("text", { x, y: base + 40, "text-anchor": "middle", class: "soft" }, place === 1 ? "rank 1" : String(place)));
    });
    marks.push(ui.bars(metrics, width, ...(wide ? [plot + 30, base - 84] : [0, base + 62]), before));
    [...scores.keys()].sort((i, j) => (handles[i].node === document.activeElement) - (handles[j].node === document.activeElement)).forEach((i) => {
      const x = axis(scores[i]);
      marks.push(mark(x, line, levels[i], 15));
      const words = `${CARS[levels[i]]}, score ${ui.number(scores[i])}, rank ${places[i]}, H-rank / rank ${ui.number(shares[i])} of ${ui.number(rel[i])}`;
      handles[i].at(x, line, `Item ${NAMES[i]}`, words, scores[i]);
    });
    picture.draw(width, marks.join(""), "A list of cars, and its hierarchical average precision", base + (wide ? 46 : 104));
    const [whole, leaf] = [0, 1].map((row) => metrics[row][1] - (before.length ? before[row] : metrics[row][1]));
    const way = (change) => `${change > 0 ? "rises" : "falls"} by ${ui.number(Math.abs(change))}`;
    const [sum, most] = [shares, rel].map((values) => ui.number(ranks.mean(values) * n));
    const usual = `The numbers are H-rank / rank. Their sum, ${sum}, divided by the sum of rel, ${most}, is H‑AP.`;
    return whole * leaf < -1e-5 ? `AP of Lada #2 ${way(leaf)} with this move, and H-AP ${way(whole)}. They disagree.` : usual;
  }

  const play = ui.figure({
    el, model, name: "h-ap", start, draw,
    shown: (state) => {
      const [h_ap, ap] = measured(state).map(([, value]) => value);
      return { h_ap, average_precision: ap };
    },
  });
  const picture = play.svg(400);
  const put = (i, score) => play.set({ scores: play.state.scores.map((old, k) => (k === i ? Number(ui.clamp(score, 0, 1).toFixed(3)) : old)) });
  const take = () => (before = measured(play.state).map(([, value]) => value));
  function turn(i) {
    const levels = play.state.levels.map((old, k) => (k === i ? (old + LEAF) % (LEAF + 1) : old));
    if (levels.includes(LEAF)) play.set({ levels });
  }
  const handles = [...NAMES].map((_, i) => {
    const handle = play.handle(picture, {
      move: ({ x }) => put(i, axis.back(x)),
      by: (dx, dy) => put(i, play.state.scores[i] + 0.02 * (dy || -dx)),
      tap: () => turn(i),
    });
    handle.node.addEventListener("pointerdown", take);
    handle.node.addEventListener("focus", take);
    return handle;
  });
  const slider = play.slider("alpha", { label: "exponent β", low: 0.1, high: 10, log: true, ends: ["every relative counts", "only Lada #2 counts"] });
  slider.addEventListener("pointerdown", () => (before = []));
};
