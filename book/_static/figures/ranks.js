/* The definitions that the figures compute with: those of rankedu/reference.py, by the same names.
   tests/book/browser/test_figures.py compares each with Python on random input. Lists in, lists or numbers out. */
"use strict";

globalThis.rankedu ??= { figures: {} };

rankedu.ranks = (() => {
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const mean = (values) => (values.length ? sum(values) / values.length : NaN);

  /** The items from the best to the worst; equal scores go by position. */
  const order = (y) => [...y.keys()].sort((i, j) => y[j] - y[i] || i - j);

  /** The rank of every item, 1 for the best. */
  function rank(y) {
    const ranks = new Array(y.length);
    order(y).forEach((item, above) => (ranks[item] = above + 1));
    return ranks;
  }

  /** rk(y+): the rank of every member among the members, 0 for others. */
  function rank_among(y, members) {
    const ranks = new Array(y.length).fill(0);
    order(y).filter((item) => members[item]).forEach((item, above) => (ranks[item] = above + 1));
    return ranks;
  }

  /** Algorithm 1: the difference quotient of the ranks, a step of lam · incoming away. */
  function rank_gradient(y, incoming, lam) {
    const before = rank(y);
    return rank(y.map((score, i) => score + lam * incoming[i])).map((after, i) => (after - before[i]) / lam);
  }

  /** m(z): the least value of z·π over all permutations π. It needs sorted values, and no ranks. */
  function optimal_value(z) {
    return [...z].sort((a, b) => b - a).reduce((total, score, above) => total + (above + 1) * score, 0);
  }

  /** f_lam(y) = (m(y + lam c) - m(y)) / lam, whose gradient is Algorithm 1's. */
  function interpolated(y, c, lam) {
    return (optimal_value(y.map((score, i) => score + lam * c[i])) - optimal_value(y)) / lam;
  }

  /** The precision at the rank of every relevant item, 0 for the others: count the items above it. */
  function precisions(y, relevant) {
    return y.map((score, i) => {
      if (!relevant[i]) return 0;
      let [above, among] = [1, 1];
      for (let j = 0; j < y.length; j += 1)
        if (y[j] > score || (y[j] === score && j < i)) {
          above += 1;
          if (relevant[j]) among += 1;
        }
      return among / above;
    });
  }

  /** AP: the mean of these precisions over the relevant items. */
  function average_precision(y, relevant) {
    return sum(precisions(y, relevant)) / relevant.filter(Boolean).length;
  }

  /** AP at R, the number of relevant items: relevant items of a lower rank add 0. */
  function map_at_r(y, relevant) {
    const [places, found, total] = [rank(y), precisions(y, relevant), relevant.filter(Boolean).length];
    return sum(found.filter((_, i) => places[i] <= total)) / total;
  }

  /** The share of the first k that is relevant. */
  function precision_at_k(y, relevant, k) {
    return sum(rank(y).map((place, i) => Number(relevant[i] && place <= k))) / k;
  }

  /** 1 if one of the first k is relevant, else 0. */
  function recall_at_k(y, relevant, k) {
    return Number(rank(y).some((place, i) => relevant[i] && place <= k));
  }

  /** The gains, discounted by log2(1 + rank), over those of the best order. */
  function ndcg(y, gains) {
    const discounted = (ranks) => sum(ranks.map((place, i) => gains[i] / Math.log2(1 + place)));
    return discounted(rank(y)) / discounted(rank(gains));
  }

  /** 1 / (1 + exp(-x)), in a form that cannot overflow. */
  const sigmoid = (x) => (1 + Math.tanh(x / 2)) / 2;

  /** The rank with sigmoids, among all items or the members alone. */
  function sigmoid_rank(y, temperature, members = null) {
    return y.map((score, k) => 1 + sum(y.map((other, j) => (j === k || (members && !members[j]) ? 0 : sigmoid((other - score) / temperature)))));
  }

  /** AP of sigmoid ranks: the mean of soft rk(y+) / rk(y). */
  function smooth_ap(y, relevant, temperature) {
    const [within, among] = [sigmoid_rank(y, temperature, relevant), sigmoid_rank(y, temperature)];
    return mean(within.map((place, k) => place / among[k]).filter((_, k) => relevant[k]));
  }

  /** Each score in [-1, 1] shares itself out between the nearest of bins + 1 centres; centre 0 is the highest score. */
  function soft_histogram(y, bins) {
    const counts = new Array(bins + 1).fill(0);
    for (const score of y) {
      const place = ((1 - Math.min(Math.max(score, -1), 1)) * bins) / 2, above = Math.min(Math.floor(place), bins - 1);
      counts[above] += 1 - (place - above);
      counts[above + 1] += place - above;
    }
    return counts;
  }

  const sums = (values) => values.map(((total) => (value) => (total += value))(0));

  /** The rank to be expected if each item falls into one of its bins, in random order. */
  function histogram_rank(y, bins) {
    const counts = soft_histogram(y, bins), total = sums(counts);
    const middle = counts.map((own, centre) => (1 + own) / 2 + total[centre] - own);
    return y.map((score) => sum(soft_histogram([score], bins).map((share, centre) => (share ? share * middle[centre] : 0))));
  }

  /** FastAP: the precision at each centre, over the relevant items that have a share there. */
  function fast_ap(y, relevant, bins) {
    const among = soft_histogram(y.filter((_, i) => relevant[i]), bins);
    const [total, found] = [sums(soft_histogram(y, bins)), sums(among)];
    return sum(among.map((own, centre) => (own ? (own * found[centre]) / total[centre] : 0))) / relevant.filter(Boolean).length;
  }

  /** The nearest point of the permutahedron to -y / strength: ranks, and straight lines where scores are near. */
  function projected_rank(y, strength) {
    const level = (block) => mean(block.map(([place, value]) => value - place));
    const blocks = [];
    order(y).forEach((item, above) => {
      blocks.push([[above + 1, -y[item] / strength, item]]);
      while (blocks.length > 1 && level(blocks.at(-2)) > level(blocks.at(-1))) blocks.push(blocks.splice(-2).flat());
    });
    const ranks = [];
    for (const block of blocks) for (const [, value, item] of block) ranks[item] = value - level(block);
    return ranks;
  }

  /** The incoming gradient with its sign turned, its mean taken out, and with "std" what changes the length of y. */
  function identity_gradient(y, incoming, project = "mean") {
    let slopes = incoming.map((slope) => slope - (project === "none" ? 0 : mean(incoming)));
    if (project === "std") {
      const centred = y.map((score) => score - mean(y)), length = Math.hypot(...centred);
      const along = length ? sum(slopes.map((slope, i) => slope * centred[i])) / length : 0;
      slopes = slopes.map((slope, i) => (length ? (slope - (along * centred[i]) / length) / length : 0));
    }
    return slopes.map((slope) => -slope);
  }

  /** Relevant scores lowered by half the margin, all others raised. */
  function shift_by_margin(y, relevant, margin) {
    return y.map((score, i) => score + (relevant[i] ? -margin : margin) / 2);
  }

  /** rel(k) = (l / L)^alpha / |items of level l|, for an item k of level l. */
  function relevance(levels, alpha) {
    const deepest = Math.max(...levels) || 1;
    return levels.map((own) => (own ? (own / deepest) ** alpha / levels.filter((other) => other === own).length : 0));
  }

  /** A rank in which an item counts as much as it has in common with the query and k. */
  function h_rank(y, rel) {
    const places = rank(y);
    return rel.map((own, k) => own + sum(rel.map((other, j) => (places[j] < places[k] ? Math.min(own, other) : 0))));
  }

  /** H-AP: the sum of H-rank / rank, over that of the relevances. */
  function hierarchical_average_precision(y, rel) {
    const places = rank(y);
    return sum(h_rank(y, rel).map((share, k) => (rel[k] ? share / places[k] : 0))) / sum(rel);
  }

  return {
    mean, order, rank, rank_among, rank_gradient, optimal_value, interpolated, average_precision, map_at_r,
    precision_at_k, recall_at_k, ndcg, sigmoid, sigmoid_rank, smooth_ap, soft_histogram, histogram_rank, fast_ap,
    projected_rank, identity_gradient, shift_by_margin, relevance, h_rank,
    hierarchical_average_precision, precisions,
  };
})();
