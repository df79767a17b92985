/* One list, and the items that each ranker pushes, all at the strength that distorts the loss equally. The loss is the sum
   of the ranks of the relevant items. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.figures.surrogates = ({ el, model, ranks, ui }) => {
  const NAMES = "ABCDEF", RELEVANT = [0, 0, 1, 0, 1, 0], N = NAMES.length;
  const start = { scores: [0.92, 0.77, 0.62, 0.51, 0.4, 0.12], distortion: 0.3 };
  const total = (places) => places.reduce((sum, place, i) => sum + place * RELEVANT[i], 0);
  const loss = (y) => total(ranks.rank(y));

  /* Each method: the function that it descends, at a strength, and the strengths from exact to blurred. */
  const between = (low, high) => Array.from({ length: 16 }, (_, k) => low * (high / low) ** (k / 15));
  const METHODS = [
    ["blackbox", "λ", (y, lam) => ranks.interpolated(y, RELEVANT, lam), between(0.01, 8)],
    ["sigmoid", "τ", (y, tau) => total(ranks.sigmoid_rank(y, tau)), between(0.002, 2)],
    ["histogram", "bins", (y, bins) => total(ranks.histogram_rank(y.map((score) => 2 * score - 1), Math.round(bins))), between(300, 1)],
    ["projection", "ε", (y, eps) => total(ranks.projected_rank(y, eps)), between(0.005, 2)],
  ];

  /* How much a function differs from the loss, over lists whose scores are spread evenly: in standard deviations. */
  const LISTS = Array.from({ length: 64 }, (_, k) => Array.from({ length: N }, (_, i) => ((k + 1) * Math.sqrt([2, 3, 5, 7, 11, 13][i])) % 1));
  const spread = (values) => Math.sqrt(ranks.mean(values.map((value) => (value - ranks.mean(values)) ** 2)));
  const LOSSES = LISTS.map(loss);
  const distortion = (height, strength) => spread(LISTS.map((y, k) => height(y, strength) - LOSSES[k])) / spread(LOSSES);
  let tables = null;
  function strength(number, wanted) {
    tables ??= METHODS.map(([, , height, strengths]) => strengths.map((one) => distortion(height, one)));
    const [table, strengths] = [tables[number], METHODS[number][3]];
    const above = table.findIndex((value) => value > wanted), k = above < 0 ? table.length - 1 : Math.max(above, 1);
    const share = ui.clamp((wanted - table[k - 1]) / (table[k] - table[k - 1]), 0, 1);
    return strengths[k - 1] * (strengths[k] / strengths[k - 1]) ** share;
  }

  function draw(state, width) {
    const { scores } = state, places = ranks.rank(scores), tall = width > 560 ? 48 : 32;
    const drawn = (steps) => ui.drawn(steps, tall);
    const rows = METHODS.map(([title, letter, height], number) => {
      const found = strength(number, state.distortion);
      const slopes = number ? ui.slopes((y) => height(y, found), scores) : ranks.rank_gradient(scores, RELEVANT, found);
      const steps = slopes.map((slope) => -slope);
      const setting = letter === "bins" ? `${Math.round(found)} ${Math.round(found) > 1 ? "bins" : "bin"}` : `${letter} = ${found.toPrecision(2)}`;
      return { title, note: drawn(steps).includes(true) ? setting : `${setting}: no push`, steps };
    });
    const share = ranks.mean(RELEVANT);
    rows.push({ title: "blind step", note: "ignores the scores", steps: RELEVANT.map((own) => own - share) });
    const moved = rows.map(({ steps }) => drawn(steps).filter(Boolean).length);
    const [line, axis] = list(width, 44, (i) => `rank ${places[i]}, ${rows.map(({ title, steps }) => `${title} ${ui.number(steps[i])}`).join(", ")}`);
    const [below, high] = ui.pushes(width, 44, axis, { scores, places, names: NAMES, relevant: RELEVANT, rows, tall });
    picture.draw(width, line + below, "Six items, and what each method does to them", high);
    return `Pushed: ${METHODS.map(([title], k) => `${title} ${moved[k]}`).join(", ")}. Each row has its own scale.`;
  }

  const play = ui.figure({ el, model, name: "surrogates", start, draw });
  const picture = play.svg(380);
  const list = play.list(picture, NAMES, RELEVANT);
  play.slider("distortion", {
    label: "distortion of the loss", low: 0.02, high: 0.75, log: true, format: (value) => `${Math.round(100 * value)} %`, ends: ["nearly exact", "blurred"],
  });
};
