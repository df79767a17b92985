// Rings are moved and not made anew, for the pointer may be holding one.
export default {
  render({ model, el }) {
    const stage = el.appendChild(document.createElement("div"));
    const picture = stage.appendChild(document.createElement("img"));
    stage.className = "rankedu-held";
    picture.className = "widget-image";
    const nearest = (stops, event) => {
      const box = picture.getBoundingClientRect();
      const far = stops.map(([x, y]) =>
        Math.hypot(box.left + x * box.width - event.clientX, box.top + y * box.height - event.clientY));
      return far.indexOf(Math.min(...far));
    };
    let count = 0; // a slider may have moved on meanwhile, so that the same move is another one
    const move = (name, at) => {
      count += 1;
      model.set("moved", [name, at, count]);
      model.save_changes();
    };
    const newRing = () => {
      const ring = stage.appendChild(document.createElement("span"));
      ring.ariaHidden = "true";
      ring.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        event.preventDefault();
        const { handle, stop } = ring.dataset;
        if (stop) move(handle, Number(stop));
        else ring.setPointerCapture(event.pointerId);
      });
      ring.addEventListener("pointermove", (event) => {
        if (!ring.hasPointerCapture(event.pointerId)) return;
        const { handle } = ring.dataset;
        move(handle, nearest(model.get("holds")[handle].stops, event));
      });
      return ring;
    };
    const show = () => {
      URL.revokeObjectURL(picture.src);
      picture.src = URL.createObjectURL(new Blob([model.get("value")], { type: "image/png" }));
      picture.alt = model.get("alt");
    };
    const hold = () => {
      const rings = stage.getElementsByTagName("span");
      const wanted = Object.entries(model.get("holds")).flatMap(([handle, { stops, choice, at }]) =>
        choice ? stops.map((place, stop) => ({ handle, place, stop })) : [{ handle, place: stops[at], stop: "" }]);
      while (rings.length > wanted.length) rings[rings.length - 1].remove();
      wanted.forEach(({ handle, place, stop }, i) => {
        const ring = rings[i] ?? newRing();
        Object.assign(ring.dataset, { handle, stop });
        [ring.style.left, ring.style.top] = place.map((share) => `${100 * share}%`);
      });
    };
    const last = model.get("side") - 1;
    const map = stage.appendChild(document.createElement("div"));
    map.className = "rankedu-map";
    map.innerHTML = `<svg viewBox="0 0 ${last} ${last}" preserveAspectRatio="none"><polyline/><polyline/></svg>
      <div class="rankedu-rolled"></div><div class="rankedu-ball"></div>`;
    const [rolled, ball] = map.getElementsByTagName("div");
    Object.assign(ball, { tabIndex: 0, role: "slider", ariaLabel: "Ball", ariaValueMin: 0, ariaValueMax: last });
    const said = el.appendChild(document.createElement("p"));
    said.role = "status";
    let at = [Math.round(last / 4), Math.round((3 * last) / 4)];
    const put = (element, [x, y]) => {
      element.style.left = `${(100 * x) / last}%`;
      element.style.top = `${100 - (100 * y) / last}%`;
    };
    const place = (to) => {
      at = to.map((value) => Math.min(Math.max(Math.round(value), 0), last));
      put(ball, at);
      ball.ariaValueNow = at[0];
      ball.ariaValueText = `${at[0]} to the right and ${at[1]} up, of ${last}`;
    };
    let dropped = false;
    const roll = () => {
      const ground = model.get("ground");
      map.hidden = said.hidden = !ground.box;
      if (!ground.box) return;
      ["left", "top", "width", "height"].forEach((name, i) => (map.style[name] = `${100 * ground.box[i]}%`));
      const { trail, said: words } = rollBall(ground, at);
      const points = dropped ? trail.map(([x, y]) => `${x},${last - y}`).join(" ") : "";
      map.querySelectorAll("polyline").forEach((line) => line.setAttribute("points", points));
      rolled.hidden = !dropped || trail.length < 2;
      put(rolled, trail[trail.length - 1]);
      said.textContent = dropped ? words : "Touch the map to drop a ball; the arrow keys move it.";
    };
    const drop = (to) => {
      dropped = true;
      place(to);
      roll();
    };
    map.addEventListener("click", (event) => {
      const around = map.getBoundingClientRect();
      const across = (event.clientX - around.left) / around.width;
      drop([across * last, (1 - (event.clientY - around.top) / around.height) * last]);
      ball.focus({ preventScroll: true });
    });
    ball.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      drop(at.map((value, i) => value + by[i]));
    });
    model.on("change:value", show);
    model.on("change:holds", hold);
    model.on("change:ground", roll);
    place(at);
    [show, hold, roll].forEach((each) => each());
  },
};
