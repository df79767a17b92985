/* How a ball rolls on a map that was kept with a picture (book/rankedu_book/kit/explorable/grounds.py), in the pages and in
   JupyterLab alike: at each step the same short way down. */
"use strict";

/* Where it goes from a place, counted from the lower left corner, where that ends, and what is said of it. */
function rollBall({ way, loss, low, high }, start) {
  // The first letter of a map says that there is no direction; the others share a full turn.
  const FIRST = 32;
  const LETTERS = 95;
  // So many steps at most, each so long, in places; a valley is found if so many of them lead nowhere.
  const [STEPS, STEP, TURNING, NOWHERE] = [200, 0.5, 10, 1.5];
  const ENDS = {
    flat: "There is no gradient here.",
    edge: "It has left the map.",
    valley: "It rolls to and fro.",
    way: "It is still on its way.",
  };

  const side = Math.sqrt(way.length);
  const found = (text, [x, y]) => text.charCodeAt(Math.floor(y + 0.5) * side + Math.floor(x + 0.5)) - FIRST;
  const trail = [start];
  let end = "way";
  while (end === "way" && trail.length <= STEPS) {
    const at = trail[trail.length - 1];
    const direction = found(way, at);
    if (!direction) {
      end = "flat";
      break;
    }
    const angle = (2 * Math.PI * (direction - 1)) / (LETTERS - 1);
    const there = [at[0] + STEP * Math.cos(angle), at[1] + STEP * Math.sin(angle)];
    const inside = there.map((value) => Math.min(Math.max(value, 0), side - 1));
    trail.push(inside);
    const before = trail[trail.length - 1 - TURNING];
    if (inside.some((value, i) => value !== there[i])) end = "edge";
    else if (before && Math.hypot(inside[0] - before[0], inside[1] - before[1]) < NOWHERE) end = "valley";
  }
  const steps = trail.length - 1;
  const height = (place) => Math.round(low + (found(loss, place) / (LETTERS - 1)) * (high - low)).toString().replace("-", "−");
  const said =
    `${ENDS[end]} ${steps} ${steps === 1 ? "step" : "steps"}; the loss itself: ${height(trail[0])} before, ` +
    `${height(trail[steps])} after.`;
  return { trail, end, said };
}
