/* A grid of costs learns which path is wanted: in each step, two calls of a shortest-path solver, and a descent step. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.paths = ({ el, model, ui }) => {
  const [SIDE, RATE, STEPS] = [6, 0.1, 16];
  const COSTS = [
    0.25, 0.33, 0.28, 0.41, 0.3, 0.22, 0.62, 0.85, 0.74, 0.6, 0.82, 0.3, 0.7, 0.9, 0.66, 0.78, 0.71, 0.35,
    0.58, 0.8, 0.88, 0.69, 0.9, 0.27, 0.75, 0.64, 0.83, 0.92, 0.6, 0.38, 0.6, 0.72, 0.68, 0.77, 0.65, 0.24,
  ];
  const start = { leaves: [4, 4, 2, 0, 0], lam: 1, step: 3 }; // leaves: the column in which the wanted path leaves each row

  const beside = COSTS.map((_, cell) => [cell % SIDE && cell - 1, cell % SIDE < SIDE - 1 && cell + 1, cell - SIDE, cell + SIDE].filter((there) => Number.isInteger(there) && (there || cell === 1 || cell === SIDE) && there >= 0 && there < SIDE * SIDE));
  const mask = (cells) => COSTS.map((_, cell) => Number(cells.includes(cell)));

  /* The cells of the wanted path, in order. */
  function wantedPath(leaves) {
    const cells = [0];
    for (let row = 0; row < SIDE; row += 1) {
      const end = row * SIDE + (row < SIDE - 1 ? leaves[row] : SIDE - 1);
      if (row) cells.push(cells.at(-1) + SIDE);
      while (cells.at(-1) !== end) cells.push(cells.at(-1) + Math.sign(end - cells.at(-1)));
    }
    return cells;
  }

  /* The cells of the cheapest path from corner to corner, in order. A cost below 0 counts as 0. */
  function shortestPath(costs) {
    const far = COSTS.map((_, cell) => (cell ? Infinity : 0));
    const [from, open] = [[], new Set([0])];
    while (open.size) {
      const here = [...open].reduce((a, b) => (far[b] < far[a] ? b : a));
      open.delete(here);
      for (const there of beside[here]) {
        const cost = far[here] + Math.max(costs[there], 0) + 1e-6;
        if (cost < far[there] - 1e-12) [far[there], from[there]] = [cost, here], open.add(there);
      }
    }
    const cells = [SIDE * SIDE - 1];
    while (cells[0]) cells.unshift(from[cells[0]]);
    return cells;
  }

  /* Algorithm 1 for costs: a second call with λ times the slope of the loss, which counts the cells that are wrong. */
  function taught(costs, wanted, lam) {
    const found = shortestPath(costs);
    const moved = mask(shortestPath(costs.map((cost, cell) => cost + lam * (1 - 2 * wanted[cell]))));
    const before = mask(found);
    return { costs, found, change: before.map((here, cell) => here - moved[cell]), wrong: before.filter((here, cell) => here !== wanted[cell]).length };
  }

  function training({ leaves, lam }) {
    const wanted = mask(wantedPath(leaves));
    const steps = [taught(COSTS, wanted, lam)];
    while (steps.length <= STEPS) {
      const { costs, change } = steps.at(-1);
      steps.push(change.some(Boolean) ? taught(costs.map((cost, cell) => cost + RATE * change[cell]), wanted, lam) : steps.at(-1));
    }
    return steps;
  }

  let [steps, key, size] = [[], "", 40];
  const middle = (cell) => [((cell % SIDE) + 0.5) * size, (Math.floor(cell / SIDE) + 0.5) * size];

  function draw(state, width) {
    if (key !== `${state.leaves} ${state.lam}`) [steps, key] = [training(state), `${state.leaves} ${state.lam}`];
    const wide = width > 500;
    size = wide ? 54 : 39;
    const { costs, found, change, wrong } = steps[state.step];
    const marks = costs.map((cost, cell) => ui.tag("rect", { x: (cell % SIDE) * size + 1, y: Math.floor(cell / SIDE) * size + 1, width: size - 2, height: size - 2, rx: 3, class: "cost", "fill-opacity": ui.clamp(cost, 0, 1.4) / 2.2 + 0.03 }));
    const line = (cells) => cells.map((cell) => middle(cell).join(",")).join(" ");
    marks.push(ui.tag("polyline", { points: line(wantedPath(state.leaves)), class: "wanted" }), ui.tag("polyline", { points: line(found), class: "line blue thick" }));
    change.forEach((way, cell) => {
      if (!way) return;
      const [x, y] = middle(cell);
      marks.push(ui.tag("circle", { cx: x, cy: y, r: 12, class: "sign" }), ui.tag("text", { x, y: y + 6.5, class: "sign", "text-anchor": "middle" }, way > 0 ? "+" : "−"));
    });
    state.leaves.forEach((column, row) => {
      const [x, y] = middle(row * SIDE + column);
      marks.push(ui.tag("circle", { cx: x, cy: y + size / 2, r: 8, class: "knob" }));
      handles[row].at(x, y + size / 2, `Row ${row + 1}`, `the wanted path leaves it in column ${column + 1}`, column, 0, SIDE - 1);
    });
    // Beside or below the grid: the key, and the loss by steps.
    const x0 = SIDE * size + (wide ? 40 : 12);
    const rows = wide ? ["becomes more expensive", "becomes cheaper", "wanted path", "found path"] : ["dearer", "cheaper", "wanted", "found"];
    rows.forEach((words, k) => {
      const y = 14 + 28 * k, ends = { x1: x0 + 2, x2: x0 + 18, y1: y, y2: y };
      if (k < 2) marks.push(ui.tag("circle", { cx: x0 + 10, cy: y, r: 10, class: "sign" }), ui.tag("text", { x: x0 + 10, y: y + 6.5, class: "sign", "text-anchor": "middle" }, "+−"[k]));
      else marks.push(ui.tag("line", { ...ends, class: k === 2 ? "wanted" : "line blue thick" }));
      marks.push(ui.tag("text", { x: x0 + (k === 2 ? 30 : 25), y: y + 5 }, words));
    });
    const [left, right, top, bottom] = wide ? [x0, width - 10, 160, 290] : [x0, width - 8, 172, 232];
    const [across, up] = [ui.scale([0, STEPS], [left, right]), ui.scale([0, Math.max(12, ...steps.map((one) => one.wrong))], [bottom, top])];
    marks.push(ui.tag("text", { x: left, y: top - (wide ? 14 : 32) }, wide ? `wrong cells: ${wrong}` : "wrong"));
    if (!wide) marks.push(ui.tag("text", { x: left, y: top - 15 }, `cells: ${wrong}`));
    marks.push(ui.tag("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }));
    marks.push(ui.tag("polyline", { points: steps.map((one, k) => `${across(k)},${up(one.wrong)}`).join(" "), class: "line mean" }));
    marks.push(ui.tag("circle", { cx: across(state.step), cy: up(wrong), r: 6, class: "dot mean" }));
    if (wide) marks.push(ui.tag("text", { x: left, y: bottom + 18, class: "soft" }, "step 0"), ui.tag("text", { x: right, y: bottom + 18, class: "soft", "text-anchor": "end" }, String(STEPS)));
    picture.draw(width, marks.join(""), "A grid of costs, the wanted path and the found one", SIDE * size);
    const counted = `Step ${state.step}: the found path is wrong in ${wrong} cells.`;
    if (!wrong) return `Step ${state.step}: the found path is the wanted one. The gradient is zero.`;
    if (change.some(Boolean)) return `${counted} A look ahead by λ finds another path, and the ${change.filter(Boolean).length} cells in which the two differ get new costs.`;
    const short = taught(costs, mask(wantedPath(state.leaves)), 1000).change.some(Boolean);
    return `${counted} The gradient is zero, ${short ? "because λ is too short" : "because the wanted path touches itself, and a short cut wins at every λ"}.`;
  }

  const play = ui.figure({ el, model, name: "paths", start, draw, shown: ({ step }) => ({ wrong: steps[step].wrong, path: steps[step].found }) });
  const picture = play.svg(240);
  const put = (row, column) => play.set({ leaves: play.state.leaves.map((old, k) => (k === row ? ui.clamp(Math.round(column), 0, SIDE - 1) : old)) });
  const handles = start.leaves.map((_, row) => play.handle(picture, { move: ({ x }) => put(row, x / size - 0.5), by: (dx, dy) => put(row, play.state.leaves[row] + (dx || dy)) }));
  play.slider("step", { label: "step of the descent", low: 0, high: STEPS, step: 1, format: String });
  play.slider("lam", { label: "λ, how far the gradient looks ahead", low: 0.01, high: 100, log: true });

  /* The first time, the first steps run by themselves, until a hand takes over. */
  ui.inSight(el, () => {
    if (ui.still() || location.hash.includes(el.id || "no id")) return;
    const began = performance.now();
    let shown = 0;
    play.set({ step: 0 }, { kept: false });
    requestAnimationFrame(function go(now) {
      if (play.state.step !== shown || shown === start.step) return;
      shown = ui.clamp(Math.floor((now - began) / 400), 0, start.step);
      play.set({ step: shown }, { kept: false });
      requestAnimationFrame(go);
    });
  });
};
