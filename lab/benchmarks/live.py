"""Start, update and weight of each live explorable in Chromium, as a table: `python -m benchmarks.live [NAME ...]`.

The start is from a reader's first key to the first answer: scripts fetched, read and run. An update is one key's worth:
computed, drawn and laid out; the shortest and the median of 60 are told as it is, with 20 items, and with the processor
slowed six times. On a busy machine only the shortest tells something.
Bytes are those of the scripts and the style that a touch brings, as they lie on the disk and packed.
"""

import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankbook.kit.live import PAGE, Live, names

ROOT = Path(__file__).resolve().parents[2]
SLOWED, ITEMS, TIMES = 6, 20, 60
START = """async () => {
  const figure = document.querySelector("figure"), before = figure.dataset.state, begun = performance.now();
  const tap = (key) => figure.querySelector(".handle").dispatchEvent(new KeyboardEvent("keydown", { key }));
  ["PageUp", "PageDown", "PageDown"].forEach(tap);
  while (figure.dataset.state === before && performance.now() < begun + 20000)
    await new Promise((done) => setTimeout(done));
  return performance.now() - begun;
}"""
UPDATE = """async (times) => {
  const figure = document.querySelector("figure"), taken = [];
  for (let n = 0; n < times; n += 1) {
    await new Promise((done) => setTimeout(done));
    const before = figure.dataset.state, begun = performance.now(), key = n % 20 < 10 ? "PageDown" : "PageUp";
    figure.querySelector(".handle").dispatchEvent(new KeyboardEvent("keydown", { key }));
    for (let k = 0; k < 50 && figure.dataset.state === before; k += 1) await null;
    figure.querySelector("svg").getBoundingClientRect();
    if (figure.dataset.state !== before) taken.push(performance.now() - begun);
  }
  taken.sort((a, b) => a - b);
  return [taken[0], taken[taken.length >> 1]];
}"""


def grown(start: dict, count: int) -> dict | None:
    """A state of as many items, where an explorable has items at all."""
    if "scores" not in start:
        return None
    n = len(start["scores"])
    lists = {key: value for key, value in start.items() if isinstance(value, list) and len(value) == n}
    state = {**start, **{key: [value[i % n] for i in range(count)] for key, value in lists.items()}}
    more = {"weights": [0.2] * count, "incoming": [0.05 * (-1) ** i + 0.01 * i for i in range(count)]}
    more = {key: value for key, value in more.items() if key in start}
    return {**state, **more, "scores": [0.95 - 0.9 * i / count + 0.003 * (i % 3) for i in range(count)]}


@contextmanager
def browser() -> Iterator:
    """A running Chromium."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


def measured(chromium, page_of: Path, slowed: int) -> tuple[str, str]:
    """Milliseconds to the first answer, and of an update: the shortest and the median."""
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(page_of.as_uri())
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    start, updates = page.evaluate(START), page.evaluate(UPDATE, TIMES)
    page.close()
    return f"{start:.0f}", "/".join(f"{one:.1f}" for one in updates)


def main(wanted: list[str]) -> None:
    """Print the table."""
    sys.path.insert(0, str(ROOT / "book"))
    from tools.site import explorables

    folder = Path(tempfile.mkdtemp())
    for file in [ROOT / "book" / "_static" / "python.js", *PAGE.iterdir()]:
        shutil.copy(file, folder)
    explorables.write_scripts(folder / "live")
    head = '<meta charset="utf-8"><link rel="stylesheet" href="live.css"><script src="live.js"></script>'
    columns = "start|update|start, slowed|update, slowed|20 items|20 items, slowed|kB|kB packed"
    print("| explorable |" + columns + "|\n" + "|---" * 9 + "|")
    with browser() as chromium:
        for name in wanted or names():
            explorable, cells = Live(name), []
            states = [explorable.start, grown(explorable.start, ITEMS)]
            for number, state in enumerate(states):
                page = folder / f"{name}-{number}.html"
                if state is not None:
                    explorable.start = state
                    page.write_text(head + explorables.live_markup(explorable, ""), encoding="utf-8")
                for slowed in (1, SLOWED):
                    times = measured(chromium, page, slowed) if state is not None else None
                    cells += times[number:] if times else ["–"]
            markup = explorables.live_markup(Live(name), "")
            scripts = json.loads(markup.partition('data-scripts="')[2].partition('"')[0].replace("&quot;", '"'))
            files = [(folder / one).read_bytes() for one in [*scripts, "live.js", "live.css"]]
            cells += [f"{sum(map(len, files)) / 1000:.0f}", f"{sum(len(gzip.compress(f)) for f in files) / 1000:.0f}"]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
