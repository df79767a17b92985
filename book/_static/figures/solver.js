/* Ranking is a solver: five weights on the pegs of a lever pull least where each hangs on the peg of its rank. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.solver = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDE", SCORES = [0.9, 0.8, 0.6, 0.4, 0.3], N = NAMES.length;
  const start = { pegs: [3, 5, 1, 4, 2] }; // of A to E
  const pull = (pegs) => pegs.reduce((sum, peg, i) => sum + peg * SCORES[i], 0);
  const LEAST = ranks.optimal_value(SCORES), MOST = -ranks.optimal_value(SCORES.map((score) => -score));

  let across = null;
  function draw({ pegs }, width) {
    const [hinge, long] = [[26, 44], width - 50];
    across = ui.scale([0, N], [hinge[0], hinge[0] + long]);
    const now = pull(pegs), steep = (0.2 * Math.min(long, 500) * (now - LEAST)) / (MOST - LEAST) / long;
    const beam = (x) => hinge[1] + steep * (x - hinge[0]);
    const solved = now - LEAST < 1e-9;
    const marks = [
      ui.tag("path", { d: `M${hinge[0]},${hinge[1]} l-16,-26 h32 Z`, class: "still" }),
      ui.tag("line", { x1: hinge[0], x2: width - 8, y1: hinge[1], y2: hinge[1], class: "axis dashed" }),
      ui.tag("line", { x1: hinge[0], x2: width - 8, y1: hinge[1], y2: beam(width - 8), class: "line thick" }),
      ui.tag("circle", { cx: hinge[0], cy: hinge[1], r: 6, class: "dot" }),
    ];
    pegs.forEach((peg, i) => {
      const [x, half] = [across(peg), 14 + 10 * SCORES[i]], y = beam(x) + 24, high = 22 + 40 * SCORES[i];
      marks.push(ui.tag("line", { x1: x, x2: x, y1: beam(x), y2: y, class: "line" }), ui.tag("circle", { cx: x, cy: beam(x), r: 4, class: "dot" }));
      marks.push(ui.tag("path", { d: `M${x - half + 5},${y} H${x + half - 5} L${x + half},${y + high} H${x - half} Z`, class: solved ? "yes" : "still" }));
      marks.push(ui.tag("text", { x, y: y + high - 9, "text-anchor": "middle", class: "on" }, NAMES[i]));
      marks.push(ui.tag("text", { x, y: y + high + 17, "text-anchor": "middle" }, ui.number(SCORES[i], 1)));
      marks.push(ui.tag("text", { x: across(peg), y: hinge[1] - 14, "text-anchor": "middle", class: "soft" }, `peg ${peg}`));
      handles[i].at(x, y + high / 2, `Weight ${NAMES[i]}`, `peg ${peg}, pull ${ui.number(now, 1)}`, peg, 1, N);
    });
    const [base, full] = [232, ui.scale([0, MOST], [0, width])];
    const sum = ranks.order(SCORES).map((i) => `${SCORES[i]}·${pegs[i]}`).join(" + ");
    marks.push(ui.tag("text", { x: 0, y: base - 12 }, width > 500 ? `pull = ${sum} = ${ui.number(now, 1)}` : `${sum} = ${ui.number(now, 1)}`));
    marks.push(ui.tag("rect", { x: 0, y: base, width, height: 14, class: "plain" }), ui.tag("rect", { x: 0, y: base, width: full(now), height: 14, class: solved ? "yes" : "still" }));
    marks.push(ui.tag("line", { x1: full(LEAST), x2: full(LEAST), y1: base - 4, y2: base + 18, class: "line" }));
    marks.push(ui.tag("text", { x: full(LEAST), y: base + 34, "text-anchor": "middle", class: "soft" }, `least ${ui.number(LEAST, 1)}`));
    picture.draw(width, marks.join(""), "Five weights on the pegs of a lever");
    return solved ? "No arrangement pulls less, and every weight hangs on the peg of its rank." : `The pull is ${ui.number(now, 1)}, and the least pull is ${ui.number(LEAST, 1)}.`;
  }

  const play = ui.figure({ el, model, name: "solver", start, draw, shown: ({ pegs }) => ({ pull: pull(pegs), least: LEAST }) });
  const picture = play.svg(270);
  /* A weight changes places with the one that hangs on its new peg. */
  function hang(i, peg) {
    const { pegs } = play.state, wanted = ui.clamp(Math.round(peg), 1, N);
    play.set({ pegs: pegs.map((old, k) => (k === i ? wanted : old === wanted ? pegs[i] : old)) });
  }
  const handles = [...NAMES].map((_, i) => play.handle(picture, { move: ({ x }) => hang(i, across.back(x)), by: (dx, dy) => hang(i, ((play.state.pegs[i] - 1 + N + Math.sign(dx || dy)) % N) + 1) }));
};
