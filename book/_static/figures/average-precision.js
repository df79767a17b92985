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

  let axis = null;
  function draw(state, width) {
    const { scores, relevance } = state;
    const wide = width > 560;
    const plot = wide ? width - 240 : width; // the steps; beside or below them, the metrics
    const high = wide ? 370 : 470;
    axis = ui.scale([1, 0], [24, width - 24]);
    const column = ui.scale([0.5, n + 0.5], [34, plot]);
    const level = ui.scale([0, 1], [330, 160]);
    const places = ranks.rank(scores);
    const shares = ranks.precisions(scores, relevance);
    const metrics = measured(state);
    const ap = metrics[0][1];
    const marks = [
      ui.tag("text", { x: 0, y: 12, class: "soft" }, "high score"), ui.tag("text", { x: width, y: 12, class: "soft", "text-anchor": "end" }, "low score"),
      ui.tag("line", { x1: 0, x2: width, y1: 46, y2: 46, class: "axis" }),
    ];
    for (const share of [0, 0.5, 1]) {
      marks.push(ui.tag("line", { x1: 34, x2: plot, y1: level(share), y2: level(share), class: "axis" }));
      marks.push(ui.tag("text", { x: 28, y: level(share) + 4, class: "soft", "text-anchor": "end" }, String(share)));
    }
    places.forEach((place, i) => {
      const [x, left, right] = [column(place), column(place - 0.42), column(place + 0.42)];
      marks.push(ui.tag("path", { d: `M${axis(scores[i])},62 C${axis(scores[i])},100 ${x},90 ${x},126`, class: "axis" }));
      if (relevance[i]) {
        marks.push(ui.tag("rect", { x: left, y: level(shares[i]), width: right - left, height: level(0) - level(shares[i]), class: "area" }));
        marks.push(ui.tag("line", { x1: left, x2: right, y1: level(shares[i]), y2: level(shares[i]), class: "line" }));
        const of = `${Math.round(shares[i] * place)}/${place}`;
        marks.push(ui.tag("text", { x, y: level(0) - 8, "text-anchor": "middle", class: "bold" }, of));
      }
      marks.push(ui.tag("text", { x, y: 142, "text-anchor": "middle", class: relevance[i] ? "bold" : "no" }, NAMES[i]));
      marks.push(ui.tag("text", { x, y: level(0) + 18, "text-anchor": "middle", class: "soft" }, String(place)));
    });
    marks.push(ui.tag("text", { x: 34, y: level(0) + 35, class: "soft" }, "rank, and the precision at each relevant item"));
    marks.push(ui.tag("line", { x1: 34, x2: plot, y1: level(ap), y2: level(ap), class: "line dashed mean" }));
    marks.push(ui.tag("text", { x: plot - 2, y: level(ap) - 6, "text-anchor": "end", class: "bold mean" }, `AP = ${ui.number(ap)}`));
    marks.push(ui.bars(metrics, width, ...(wide ? [plot + 40, 172] : [0, 386])));
    [...scores.keys()].sort((i, j) => (handles[i].node === document.activeElement) - (handles[j].node === document.activeElement)).forEach((i) => {
      const x = axis(scores[i]);
      marks.push(ui.item(x, 46, relevance[i], NAMES[i]));
      const words = `score ${ui.number(scores[i])}, rank ${places[i]}, ${relevance[i] ? `relevant, precision ${ui.number(shares[i])}` : "irrelevant"}`;
      handles[i].at(x, 46, `Item ${NAMES[i]}`, words, scores[i]);
    });
    picture.draw(width, marks.join(""), "A list of items, and its average precision", high);
    const terms = ranks.order(scores).filter((i) => relevance[i]).map((i) => `${Math.round(shares[i] * places[i])}/${places[i]}`);
    return terms.length ? `AP is the mean of ${terms.join(", ")}, which is ${ui.number(ap)}.` : "No item is relevant, so AP is not defined.";
  }

  const play = ui.figure({
    el, model, name: "average-precision", start, draw,
    shown: ({ scores, relevance }) => ({ average_precision: ranks.average_precision(scores, relevance) }),
  });
  const picture = play.svg(370);
  const put = (i, score) => play.set({ scores: play.state.scores.map((old, k) => (k === i ? Number(ui.clamp(score, 0, 1).toFixed(3)) : old)) });
  function turn(i) {
    const relevance = play.state.relevance.map((old, k) => (k === i ? 1 - old : old));
    if (relevance.some(Boolean)) play.set({ relevance });
  }
  const handles = [...NAMES].map((_, i) =>
    play.handle(picture, {
      move: ({ x }) => put(i, axis.back(x)),
      by: (dx, dy) => put(i, play.state.scores[i] + 0.02 * (dy || -dx)),
      tap: () => turn(i),
    }),
  );
};
