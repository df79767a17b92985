/* "Report a mistake on this page" says where: the heading that was passed last, and the equation that stands in the window. */
"use strict";

(() => {
  const visible = (element) => element.getClientRects().length > 0;
  const top = (element) => element.getBoundingClientRect().top;

  function place() {
    const headings = [...document.querySelectorAll(".bd-article :is(h1, h2, h3)")].filter(visible);
    const heading = headings.filter((one) => top(one) < innerHeight / 2).pop() ?? headings[0];
    const found = heading ? [`#${heading.closest("section")?.id ?? ""}`] : [];
    const middle = (one) => Math.abs(top(one) - innerHeight / 2);
    const equations = [...document.querySelectorAll(".bd-article div.math[id]")].filter(visible);
    const [equation] = equations.filter((one) => top(one) > 0 && top(one) < innerHeight).sort((a, b) => middle(a) - middle(b));
    const number = equation?.querySelector(".eqno")?.firstChild?.textContent ?? "";
    return found.concat(equation ? `equation ${number} #${equation.id}` : []).join(", ");
  }

  // Before the browser follows the link, with whichever button.
  const told = (event) => {
    const link = event.target.closest?.('a[href*="template=mistake.yml"]');
    if (!link) return;
    const address = new URL(link.href);
    address.searchParams.set("place", place());
    link.href = address;
  };
  for (const kind of ["click", "auxclick"]) document.addEventListener(kind, told, true);
})();
