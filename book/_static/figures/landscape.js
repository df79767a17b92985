/* The landscape of a rank-based loss under one slider. Two relevant items, A and B, have the floor as their scores, four
   irrelevant items lie still, and the loss is the mean rank of A and B. Its interpolation by Algorithm 1 is flat between
   the lines on which an item passes another, now or λ ahead. So the surface is drawn exactly, facet by facet. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.landscape = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDEF", C = [0.5, 0.5, 0, 0, 0, 0]; // the loss is c · rk(y)
  const OTHERS = [0.9, 1.9, 3.2, 4.1], FAR = 5; // the scores of C to F; those of A and B go from 0 to 5
  const [LEAST, MOST] = [0.05, 12]; // of λ
  const [LOW, HIGH, STEPS] = [1.5, 5.5, 700]; // of the loss; of the ball
  const VIRIDIS = [[68, 1, 84], [70, 50, 127], [54, 92, 141], [39, 127, 142], [31, 161, 135], [74, 194, 109], [159, 218, 58], [253, 231, 37]];

  const scores = (point) => [...point, ...OTHERS];
  const loss = (point) => ranks.rank(scores(point)).reduce((sum, place, i) => sum + place * C[i], 0);
  const height = (point, lam) => ranks.interpolated(scores(point), C, lam);

  /* The way of the ball: the gradient of Algorithm 1 pushes it, friction slows it. It stays on the map. */
  function roll(from, lam) {
    let [at, speed] = [from, [0, 0]];
    const trail = [from];
    for (let step = 0; step < STEPS; step += 1) {
      const slopes = ranks.rank_gradient(scores(at), C, lam);
      speed = speed.map((v, k) => 0.9 * v - 0.004 * slopes[k]);
      if (Math.hypot(...speed) < 1e-3) break;
      at = at.map((x, k) => ui.clamp(x + speed[k], 0, FAR));
      trail.push(at);
    }
    return trail;
  }

  /* The floor from above, its nearest corner the goal: a point and a height → a point of the picture. */
  let [size, middle, top, tilt, tall] = [1, 0, 0, 0.5, 100];
  const project = ([u, v], z) => [middle + (u - v) * size, top + (u + v) * size * tilt + ((HIGH - z) / (HIGH - LOW)) * tall];
  const seat = (point, lam) => project(point, height(point, lam));

  /* Where the surface is hit by a line of sight, along which the score of A minus the score of B does not change. */
  function hit(x, y, lam) {
    const apart = ui.clamp((x - middle) / size, -FAR, FAR);
    let [back, front] = [Math.abs(apart), 2 * FAR - Math.abs(apart)];
    const point = (sum) => [(sum + apart) / 2, (sum - apart) / 2];
    for (let k = 0; k < 24; k += 1) {
      const half = (back + front) / 2;
      if (seat(point(half), lam)[1] < y) back = half;
      else front = half;
    }
    return point(back).map((score) => Number(ui.clamp(score, 0, FAR).toFixed(3)));
  }

  const colour = (z, light) => {
    const at = ui.clamp((z - LOW) / (HIGH - LOW), 0, 1) * (VIRIDIS.length - 1), below = Math.min(Math.floor(at), VIRIDIS.length - 2);
    return `rgb(${VIRIDIS[below].map((value, k) => Math.round(Math.min(255, light * (value + (at - below) * (VIRIDIS[below + 1][k] - value))))).join(" ")})`;
  };

  /* Paint a flat facet. In the picture, too, its height changes along one direction only. */
  function facet(context, corners, heights, light) {
    const places = corners.map((corner, k) => project(corner, heights[k]));
    const [[x0, y0], [x1, y1], , [x3, y3]] = places;
    const [a, b, c, d, p, q] = [x1 - x0, y1 - y0, x3 - x0, y3 - y0, heights[1] - heights[0], heights[3] - heights[0]];
    const [area, low, high] = [a * d - b * c, Math.min(...heights), Math.max(...heights)];
    const [gx, gy] = [(p * d - q * b) / area, (q * a - p * c) / area], steep = gx * gx + gy * gy;
    if (high - low < 0.01 || !(steep < 1e4)) context.fillStyle = colour((low + high) / 2, light);
    else {
      const along = (z) => [x0 + ((z - heights[0]) * gx) / steep, y0 + ((z - heights[0]) * gy) / steep];
      const shade = context.createLinearGradient(...along(low), ...along(high));
      for (let k = 0; k <= 6; k += 1) shade.addColorStop(k / 6, colour(low + (k / 6) * (high - low), light));
      context.fillStyle = shade;
    }
    outline(context, places);
    context.fill();
    context.strokeStyle = context.fillStyle; // no seam between two facets
    context.stroke();
  }

  function outline(context, places) {
    context.beginPath();
    places.forEach((place, k) => (k ? context.lineTo(...place) : context.moveTo(...place)));
    context.closePath();
  }

  function paint(context, lam) {
    const ahead = lam * C[0];
    const knots = [...new Set([0, FAR, ...OTHERS, ...OTHERS.map((score) => score - ahead)])].filter((x) => x >= 0 && x <= FAR).sort((a, b) => a - b);
    const heights = knots.map((u) => knots.map((v) => height([u, v], lam)));
    context.lineJoin = "round";
    context.lineWidth = 0.7;
    for (let i = 0; i + 1 < knots.length; i += 1)
      for (let j = 0; j + 1 < knots.length; j += 1) {
        const around = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
        const [here, right, , left] = around.map(([k, l]) => heights[k][l]);
        const [rise, slant] = [(right - here) / (knots[i + 1] - knots[i]), (left - here) / (knots[j + 1] - knots[j])];
        const light = 0.62 + 0.4 * ((1 - 0.1 * rise + 0.35 * slant) / Math.hypot(1, rise, slant));
        facet(context, around.map(([k, l]) => [knots[k], knots[l]]), around.map(([k, l]) => heights[k][l]), light);
      }
    // Where an item passes another, at every λ.
    context.strokeStyle = "rgb(255 255 255 / 45%)";
    context.lineWidth = 1;
    for (const own of OTHERS)
      for (const side of [(x) => [own, x], (x) => [x, own]]) {
        context.beginPath();
        knots.forEach((x, k) => context[k ? "lineTo" : "moveTo"](...seat(side(x), lam)));
        context.stroke();
      }
    // The two sides of the block.
    context.fillStyle = play.colour("soft");
    for (const [side, dark] of [[(x) => [x, FAR], 0.5], [(x) => [FAR, x], 0.3]]) {
      context.globalAlpha = dark;
      outline(context, [...knots.map((x) => seat(side(x), lam)), project(side(FAR), LOW - 0.3), project(side(0), LOW - 0.3)]);
      context.fill();
    }
    context.globalAlpha = 1;
  }

  const start = { lam: LEAST, ball: [0.45, 1.4] };
  let [trail, of, key, gone, begun] = [[], null, "", 0, 0]; // gone: how many steps the ball has gone
  const list = (width) => (width > 560 ? 0 : 40); // the height of the list where it is below
  const slots = ranks.rank(scores(start.ball)); // where each item is in the list, on its way to its rank

  function draw(state, width) {
    const wide = width > 560, plot = wide ? width - 130 : width, room = wide ? 26 : 28;
    [size, tilt, tall] = wide ? [plot / (2 * FAR) - 8, 0.4, 96] : [(plot - 12) / (2 * FAR), 0.36, 50];
    [middle, top] = [plot / 2, room];
    const high = Math.round(top + 2 * FAR * size * tilt + tall * (1 + 0.3 / (HIGH - LOW)) + 4);
    if (key !== `${state.lam} ${state.ball}`) {
      const moved = of === null || of !== `${state.ball}`;
      [trail, key, of] = [roll(state.ball, state.lam), `${state.lam} ${state.ball}`, `${state.ball}`];
      gone = ui.still() ? trail.length - 1 : moved ? 0 : Math.min(gone, trail.length - 1);
      begun = performance.now() - 8 * gone;
      if (!ui.still()) requestAnimationFrame(go);
    }
    paint(canvas(width, high + list(width)), state.lam);
    if (ui.still()) ranks.rank(scores(trail.at(-1))).forEach((place, i) => (slots[i] = place));
    over(state, width, high);
    const [before, after] = [loss(state.ball), loss(trail.at(-1))].map((value) => ui.number(value, 1));
    const says = `λ = ${ui.number(state.lam)}`;
    if (trail.length < 2) return `${says}: A and B look λ/2 ahead and pass no item there, so the ball lies still.`;
    if (before === after) return `${says}: the ball rolls only to the edge of its step.`;
    return `${says}: the ball rolls, and the mean rank of A and B falls from ${before} to ${after}. ${after === String(LOW) ? "This is the goal." : `The goal is ${LOW}.`}`;
  }

  /* What lies above the surface: the way, the ball, words, and the items in their order. */
  function over(state, width, high) {
    const wide = width > 560, at = trail[Math.min(gone, trail.length - 1)];
    const way = trail.slice(0, gone + 1).map((point) => seat(point, state.lam).map((x) => x.toFixed(1)).join(",")).join(" ");
    const [[x, y], [x0, y0], goal] = [seat(at, state.lam), seat(state.ball, state.lam), project([4.55, 4.55], height([4.55, 4.55], state.lam))];
    const turn = (Math.atan(tilt) * 180) / Math.PI;
    const side = (point, angle, anchor, words) => {
      const [a, b] = project(point, LOW - 0.3);
      return ui.tag("text", { transform: `translate(${a.toFixed(1)} ${(b + (wide ? 18 : 16)).toFixed(1)}) rotate(${angle.toFixed(2)})`, "text-anchor": anchor, class: "soft" }, words);
    };
    const marks = [
      ui.tag("text", { x: 0, y: 14, class: "soft" }, wide ? "height: the loss, which is the mean rank of A and B" : "height: the mean rank of A and B"),
      side([FAR / 2, FAR], turn, "middle", "score of A →"), side([FAR, FAR / 2], -turn, "middle", "← score of B"),
      ui.tag("text", { x: goal[0], y: goal[1] + 4, "text-anchor": "middle", class: "goal" }, "goal"),
      ui.tag("polyline", { points: way, class: "way under" }), ui.tag("polyline", { points: way, class: "way" }),
      ui.tag("circle", { cx: x0, cy: y0, r: 4, class: "from" }),
      ui.tag("ellipse", { cx: x, cy: y + 1, rx: 8, ry: 4, class: "shadow" }),
      ui.tag("circle", { cx: x, cy: y - 7, r: 9, class: "ball" }), ui.tag("circle", { cx: x - 3, cy: y - 10, r: 2.5, class: "gleam" }),
    ];
    const slot = wide ? (k) => [width - 24, 34 + k * ((high - 66) / 5)] : (k) => [width - 16 - k * ((width - 32) / 5), high + 24];
    if (wide) for (let k = 0; k < 6; k += 1) marks.push(ui.tag("text", { x: slot(k)[0] - 30, y: slot(k)[1] + 5, "text-anchor": "end", class: "soft" }, `rank ${k + 1}`));
    else marks.push(ui.tag("text", { x: 0, y: high + 2, class: "soft" }, "rank 6"), ui.tag("text", { x: width, y: high + 2, "text-anchor": "end", class: "soft" }, "rank 1"));
    [...NAMES].map((name, i) => i).reverse().forEach((i) => marks.push(ui.item(...slot(slots[i] - 1), i < 2, NAMES[i], 14)));
    picture.draw(width, marks.join(""), "The landscape, the ball, and the order of the items", high + list(width));
    const order = ranks.order(scores(at)).map((i) => NAMES[i]).join(" ");
    handle.at(x, y - 4, "The ball", `score of A ${ui.number(at[0])}, score of B ${ui.number(at[1])}, order ${order}, mean rank ${ui.number(loss(at), 1)}`, at[0], 0, FAR);
  }

  let waiting = 0;
  function go(now) {
    waiting = 0;
    gone = ui.clamp(Math.floor((now - begun) / 8), 0, trail.length - 1); // a frame may begin before the way was found
    const [places, width] = [ranks.rank(scores(trail[gone])), play.stage.clientWidth];
    const moving = places.map((place, i) => Math.abs(place - slots[i]) > 0.01);
    places.forEach((place, i) => (slots[i] = moving[i] ? slots[i] + 0.22 * (place - slots[i]) : place));
    over(play.state, width, picture.node.viewBox.baseVal.height - list(width));
    if (gone < trail.length - 1 || moving.includes(true)) waiting ||= requestAnimationFrame(go);
  }

  const play = ui.figure({ el, model, name: "landscape", start, draw, shown: () => ({ end: trail.at(-1), loss: loss(trail.at(-1)) }) });
  const canvas = play.canvas();
  const picture = play.svg(300);
  picture.node.classList.add("over");
  const put = (x, y) => play.set({ ball: hit(x, y, play.state.lam) });
  const handle = play.handle(picture, {
    move: ({ x, y }) => put(x, y + 4),
    by: (dx, dy) => play.set({ ball: [play.state.ball[0] + 0.1 * dx, play.state.ball[1] + 0.1 * dy].map((x) => ui.clamp(x, 0, FAR)) }),
  });
  play.stage.addEventListener("click", (event) => {
    const box = play.stage.getBoundingClientRect();
    if (event.target !== handle.node) put(event.clientX - box.left, event.clientY - box.top);
  });
  play.slider("lam", { label: "λ, how far the gradient looks ahead", low: LEAST, high: MOST, log: true, ends: ["staircase", "slope"], invites: true });
};
