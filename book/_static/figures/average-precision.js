/* A list to drag: the precision at each relevant item as steps, and AP as their mean. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures["average-precision"] = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDEFGH";
  const start = { scores: [0.92, 0.81, 0.7, 0.58, 0.47, 0.36, 0.22, 0.1], relevance: [0, 1, 0, 1, 1, 0, 0, 0] };
  const n = NAMES.length;

  function measured({ scores, relevance }) {
    const found = ranks.average_precision(scores, relevance);
    const total = relevance.filter(Boolean).length;
    return [
      ["AP", found], [`mAP@R, R = ${total}`, ranks.map_at_r(scores, relevance)], ["P@3", ranks.precision_at_k(scores, relevance, 3)],
      ["R@1", ranks.recall_at_k(scores, relevance, 1)], ["NDCG", ranks.ndcg(scores, relevance)],
    ];
  }

  function draw(state, width) {
    const { scores, relevance } = state;
    const wide = width > 560;
    const plot = wide ? width - 230 : width; // the list; beside or below it, the metrics
    const [top, tall] = [26, wide ? 34 : 30], bottom = top + n * tall;
    const across = ui.scale([0, 1], [112, plot - 40]);
    const [places, shares, metrics] = [ranks.rank(scores), ranks.precisions(scores, relevance), measured(state)];
    const ap = metrics[0][1];
    const says = (i) => `score ${ui.number(scores[i])}, rank ${places[i]}, ${relevance[i] ? `relevant, precision ${ui.number(shares[i])}` : "irrelevant"}`;
    const [items, level] = ladder(top, bottom, (x, y, i) => ui.item(x, y, relevance[i], NAMES[i], 13), says);
    const marks = [
      ui.tag("text", { x: 84, y: 16, class: "soft", "text-anchor": "end" }, "rank"),
      ui.tag("text", { x: 112, y: 16, class: "soft" }, wide ? "precision at each relevant item: the share of relevant items down to it" : "precision at each relevant item"),
    ];
    places.forEach((place, i) => {
      const y = top + (place - 0.5) * tall;
      marks.push(ui.tag("path", { d: `M40,${level(scores[i])} C56,${level(scores[i])} 48,${y} 64,${y}`, class: "axis" }));
      marks.push(ui.tag("text", { x: 82, y: y + 5, "text-anchor": "end", class: "soft" }, String(place)));
      marks.push(ui.tag("text", { x: 96, y: y + 5, "text-anchor": "middle", class: relevance[i] ? "bold" : "no" }, NAMES[i]));
      if (!relevance[i]) return;
      marks.push(ui.tag("rect", { x: across(0), y: y - 9, width: across(shares[i]) - across(0), height: 18, class: "area" }));
      for (let part = 0; part < place; part += 1)
        marks.push(ui.tag("rect", { x: across(part / place), y: y - 9, width: across(1 / place) - across(0), height: 18, class: "box fine" }));
      marks.push(ui.tag("text", { x: plot, y: y + 5, "text-anchor": "end", class: "bold" }, `${Math.round(shares[i] * place)}/${place}`));
    });
    marks.push(ui.tag("line", { x1: across(ap), x2: across(ap), y1: top, y2: bottom, class: "line dashed mean" }));
    marks.push(ui.tag("text", { x: across(ap), y: bottom + 16, "text-anchor": "middle", class: "bold mean" }, `AP = ${ui.number(ap)}`));
    marks.push(ui.bars(metrics, width, ...(wide ? [plot + 40, 60] : [0, bottom + 42])));
    picture.draw(width, marks.join("") + items, "A list of items, and its average precision", bottom + (wide ? 22 : 126));
    const terms = ranks.order(scores).filter((i) => relevance[i]).map((i) => `${Math.round(shares[i] * places[i])}/${places[i]}`);
    return `AP is the mean of ${terms.join(", ")}, which is ${ui.number(ap)}.`;
  }

  const play = ui.figure({
    el, model, name: "average-precision", start, draw,
    shown: ({ scores, relevance }) => ({ average_precision: ranks.average_precision(scores, relevance) }),
  });
  const picture = play.svg(370);
  function turn(i) {
    const relevance = play.state.relevance.map((old, k) => (k === i ? 1 - old : old));
    if (relevance.some(Boolean)) play.set({ relevance });
  }
  const ladder = play.ladder(picture, NAMES, { tap: turn });
};
