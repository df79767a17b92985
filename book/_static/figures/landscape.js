/* The landscape of a rank-based loss under one slider: six scores move in a plane, the loss is c · rk(y), and a ball rolls
   down the gradient of Algorithm 1. λ → 0 is the loss itself, a staircase without a slope. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.landscape = ({ el, model, ranks, ui }) => {
  const WEIGHTS = [0.3, 0.1, -0.25, -0.3, 0.2, -0.05]; // c: by how much the loss wants each rank small
  const HOME = [0.55, 0.1, -0.5, -0.55, 0.45, -0.05];
  const AXES = [[0.55, -0.65, -0.5, 0.9, -0.6, 0.35], [-0.5, 0.55, -0.9, 0.35, 0.75, -0.45]];
  const FAR = 1.5, CELLS = 64, STEPS = 420, ROOM = 8; // pixels around the surface
  const [LEAST, MOST] = [0.05, 12]; // of λ
  const [LOW, HIGH] = [-2.25, 0]; // of the loss on this plane, about;
  const VIRIDIS = [[68, 1, 84], [70, 50, 127], [54, 92, 141], [39, 127, 142], [31, 161, 135], [74, 194, 109], [159, 218, 58], [253, 231, 37]];

  const scores = ([u, v]) => HOME.map((at, i) => at + u * AXES[0][i] + v * AXES[1][i]);
  const loss = (point) => ranks.rank(scores(point)).reduce((sum, place, i) => sum + place * WEIGHTS[i], 0);
  const height = (point, lam) => ranks.interpolated(scores(point), WEIGHTS, lam);

  // The corners of the cells. m(y) does not depend on λ, so it is computed once.
  const side = CELLS + 1;
  const along = Array.from({ length: side }, (_, k) => (2 * FAR * k) / CELLS - FAR);
  const corners = along.flatMap((v) => along.map((u) => scores([u, v])));
  const rest = corners.map(ranks.optimal_value);
  const surface = (lam) =>
    corners.map((y, k) => (ranks.optimal_value(y.map((score, i) => score + lam * WEIGHTS[i])) - rest[k]) / lam);

  /* The way of the ball: the gradient of Algorithm 1 pushes it, friction slows it. It stays on the map. */
  function roll(start, lam) {
    let [at, speed, trail] = [[...start], [0, 0], [[...start]]];
    for (let step = 0; step < STEPS; step += 1) {
      const slopes = ranks.rank_gradient(scores(at), WEIGHTS, lam);
      const push = AXES.map((axis) => axis.reduce((sum, part, i) => sum + part * slopes[i], 0));
      speed = speed.map((v, k) => 0.88 * v - 0.004 * push[k]);
      at = at.map((x, k) => ui.clamp(x + speed[k], -FAR, FAR));
      if (Math.hypot(...speed) < 1e-4) break;
      trail.push(at);
    }
    return trail;
  }

  /* Looking down on the plane from a corner, from above: a point of the space → a point of the picture, which it fills. */
  const [TURN, DOWN, TALL] = [0.62, 0.52, 1.3];
  const seen = (u, v, z) => [
    u * Math.cos(TURN) - v * Math.sin(TURN),
    -DOWN * (u * Math.sin(TURN) + v * Math.cos(TURN)) - ((z - LOW) / (HIGH - LOW)) * TALL * Math.sqrt(1 - DOWN * DOWN),
  ];
  // The surface fills the picture at every λ: it has one size, and its middle is in the middle.
  const point = (k) => [along[k % side], along[Math.floor(k / side)]];
  const some = [...corners.keys()].filter((k) => !((k % side) % 4) && !(Math.floor(k / side) % 4));
  const ends = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = ends(some.map((k) => seen(...point(k), 0)[0]));
  const extent = (rise) => ends(some.map((k) => seen(...point(k), rise(k))[1]));
  const tallest = Math.max(...[LEAST, 1, MOST].map((lam) => extent((k) => height(point(k), lam))).map(([top, bottom]) => bottom - top));
  function projected(width, high) {
    const size = Math.min((width - 2 * ROOM) / (right - left), (high - 3 * ROOM) / tallest);
    const [top, bottom] = extent((k) => heights[k]);
    const [x0, y0] = [width / 2 - ((left + right) / 2) * size, (high + ROOM) / 2 - ((top + bottom) / 2) * size]; // the ball is above
    return (u, v, z) => {
      const [x, y] = seen(u, v, z);
      return [x0 + x * size, y0 + y * size];
    };
  }

  const shades = Array.from({ length: 64 * 24 }, (_, number) => {
    const [share, light] = [Math.floor(number / 24) / 63, 0.62 + (0.6 * (number % 24)) / 23];
    const at = share * (VIRIDIS.length - 1), below = Math.min(Math.floor(at), VIRIDIS.length - 2);
    return `rgb(${VIRIDIS[below].map((value, k) => Math.min(255, Math.round(light * (value + (at - below) * (VIRIDIS[below + 1][k] - value))))).join(" ")})`;
  });

  function paint(context, heights, project) {
    const places = heights.map((z, k) => project(...point(k), z));
    const unit = (2 * FAR) / CELLS;
    context.lineWidth = 0.8;
    context.lineJoin = "round";
    for (let row = CELLS - 1; row >= 0; row -= 1)
      for (let column = CELLS - 1; column >= 0; column -= 1) {
        const k = row * side + column;
        const [a, b, c, d] = [k, k + 1, k + 1 + side, k + side];
        const rise = (heights[b] - heights[a] + heights[c] - heights[d]) / (2 * unit);
        const slant = (heights[d] - heights[a] + heights[c] - heights[b]) / (2 * unit);
        const light = (0.55 * rise + 0.1 * slant + 1.4) / Math.hypot(rise, slant, 1.9);
        const share = ((heights[a] + heights[b] + heights[c] + heights[d]) / 4 - LOW) / (HIGH - LOW);
        const shade = Math.round(63 * ui.clamp(share, 0, 1)) * 24 + Math.round(23 * ui.clamp(light, 0, 1));
        context.fillStyle = context.strokeStyle = shades[shade];
        context.beginPath();
        context.moveTo(...places[a]);
        context.lineTo(...places[b]);
        context.lineTo(...places[c]);
        context.lineTo(...places[d]);
        context.closePath();
        context.fill();
        context.stroke();
      }
    return places;
  }

  const start = { lam: LEAST, ball: [1.05, 1.1] };
  let [heights, places, of, trail, key, gone, begun, project] = [[], [], null, [], "", Infinity, 0, null];

  function draw(state, width) {
    const high = Math.round(ui.clamp(width * 0.46, 165, 340));
    if (of !== state.lam) [heights, of] = [surface(state.lam), state.lam];
    if (key !== `${state.lam} ${state.ball}`) {
      [trail, key] = [roll(state.ball, state.lam), `${state.lam} ${state.ball}`];
      begun = performance.now();
      gone = ui.still() ? trail.length - 1 : 0;
      if (!ui.still()) requestAnimationFrame(go);
    }
    project = projected(width, high);
    places = paint(canvas(width, high), heights, project);
    over(state, width, high);
    const [before, after] = [loss(state.ball), loss(trail[trail.length - 1])].map((value) => ui.number(value, 2));
    if (trail.length < 3) return `λ = ${ui.number(state.lam)}. The ball lies on a flat step. The gradient is zero, so the ball stays where it is.`;
    const way = trail[trail.length - 1].map((at, k) => at - trail[0][k]);
    const rolls = Math.hypot(...way) > 0.15 ? "The ball rolls" : "The ball rolls only to the edge of its step";
    return `λ = ${ui.number(state.lam)}. ${rolls}, and the loss falls from ${before} to ${after}. Its lowest value is ${ui.number(LOW, 2)}.`;
  }

  /* The way and the ball, above the surface. */
  function over(state, width, high) {
    const seat = (point) => project(...point, height(point, state.lam));
    const way = trail.map((point) => seat(point).map((x) => x.toFixed(1)).join(",")).join(" ");
    const at = trail[Math.min(gone, trail.length - 1)];
    const [x, y] = seat(at);
    const [x0, y0] = seat(state.ball);
    const marks = [
      ui.tag("text", { x: 0, y: 14, class: "soft" }, "height: the loss"),
      ui.tag("polyline", { points: way, class: "way under" }), ui.tag("polyline", { points: way, class: "way" }),
      ui.tag("circle", { cx: x0, cy: y0, r: 4, class: "from" }),
      ui.tag("ellipse", { cx: x, cy: y + 1, rx: 8, ry: 4, class: "shadow" }),
      ui.tag("circle", { cx: x, cy: y - 7, r: 9, class: "ball" }), ui.tag("circle", { cx: x - 3, cy: y - 10, r: 2.5, class: "gleam" }),
    ];
    picture.draw(width, marks.join(""), "The landscape and the ball", high);
    const said = `${state.ball.map((value) => ui.number(value, 2)).join(", ")}, loss ${ui.number(loss(state.ball), 2)}`;
    handle.at(x0, y0, "Where the ball starts", said, state.ball[0], -FAR, FAR);
  }

  function go(now) {
    const before = gone;
    gone = ui.clamp(Math.floor((now - begun) / 7), 0, trail.length - 1); // a frame may begin before the way was found
    if (gone !== before && project) over(play.state, play.stage.clientWidth, picture.node.viewBox.baseVal.height);
    if (gone < trail.length - 1) requestAnimationFrame(go);
  }

  const nearest = ({ x, y }) => {
    const far = places.map(([px, py]) => Math.hypot(px - x, py - y));
    const found = far.indexOf(Math.min(...far));
    return point(found);
  };

  const play = ui.figure({ el, model, name: "landscape", start, draw, shown: () => ({ end: trail[trail.length - 1], loss: loss(trail[trail.length - 1]) }) });
  const canvas = play.canvas();
  const picture = play.svg(300);
  picture.node.classList.add("over");
  const handle = play.handle(picture, {
    move: (place) => play.set({ ball: nearest(place) }),
    by: (dx, dy) => play.set({ ball: [play.state.ball[0] + 0.05 * dx, play.state.ball[1] + 0.05 * dy].map((x) => ui.clamp(x, -FAR, FAR)) }),
  });
  play.stage.addEventListener("click", (event) => {
    if (event.target === handle.node) return;
    const box = play.stage.getBoundingClientRect();
    play.set({ ball: nearest({ x: event.clientX - box.left, y: event.clientY - box.top }) });
  });
  play.slider("lam", { label: "λ, how far the gradient looks ahead", low: LEAST, high: MOST, log: true, ends: ["staircase", "slope"], invites: true });
  ui.inSight(el, () => ([key] = [""], play.set({}, { kept: false })));
};
