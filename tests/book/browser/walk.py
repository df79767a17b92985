"""What a visit to a page of the built book finds wrong: each check returns its findings, and a clean page has none."""

import importlib.util
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.notebooks import pairs
from tools.site import moved

HTML = pairs.ROOT / "book" / "_build" / "html"
PAGES = sorted(
    str(path.relative_to(HTML))
    for path in HTML.rglob("*.html")
    if "_static" not in path.parts and path.relative_to(HTML).with_suffix("").as_posix() not in moved.MOVED
)
SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 360, "height": 740}}
#: Bytes that a page may weigh, everything that it fetches counted as it lies on the disk, uncompressed.
FRONT, OTHER = 450_000, 1_500_000
#: Milliseconds: what does come, comes on a machine that is slow and busy too.
PATIENCE = 120_000

HEAD = """<!doctype html><html lang="en" data-theme="light"><head><title>Page</title><meta charset="utf-8">
<meta name="viewport" content="width=device-width">{}</head><body><main style="padding: 1rem"><h1>Page</h1>{}"""


def written(folder: Path, name: str, files: Iterable[str], body: str) -> None:
    """Write a page with scripts and style of the book, which lie beside it, and nothing else of it."""
    link = {".css": '<link rel="stylesheet" href="{}">', ".js": '<script src="{}" defer></script>'}
    head = "".join(link[Path(file).suffix].format(file) for file in files)
    (folder / f"{name}.html").write_text(HEAD.format(head, f"{body}</main></body></html>"), encoding="utf-8")


#: What is awaited before a page is looked at: its letters are there, and its figures stand.
SETTLED = """() => document.fonts.status === "loaded"
  && [...document.querySelectorAll("figure.play")].every((one) => one.dataset.state || !one.clientWidth)"""


def until(page, condition: str, **options) -> None:
    """Wait until a page fulfils a condition. It is asked by the clock: a browser without a window may draw no frame."""
    page.wait_for_function(condition, polling=50, **options)


def visited(page, address: str, *, scripts: bool = True):
    """Open an address; the page keeps everything that it asks for and complains of, but for what it left undone."""
    page.requests, page.errors = [], []
    page.on("request", lambda asked: page.requests.append(asked.url))
    if scripts:
        page.on("requestfailed", lambda one: "ABORTED" in one.failure or page.errors.append(f"failed: {one.url}"))
    page.on("console", lambda said: said.type in ("error", "warning") and page.errors.append(said.text))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(address)
    if scripts:
        until(page, SETTLED)
    return page


def found_again(page, what: str, holds: Callable[[], bool]) -> None:
    """Reload a page until it has found what was kept: the browser writes that down in a process of its own."""
    ends = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < ends, f"{page.url}, reloaded again and again, never had {what}"
        page.reload()
        until(page, SETTLED)


def heard(page):
    """Reload a page until others see what it keeps: 1 in 200 pages of files, in a busy browser, keeps for itself."""
    ends, other = time.monotonic() + PATIENCE / 1000, page.context.new_page()
    while True:
        page.evaluate("localStorage.setItem('heard', '')")
        other.goto((HTML / "build.json").as_uri())
        if other.evaluate("'heard' in localStorage"):
            break
        assert time.monotonic() < ends, f"{page.url}, reloaded again and again, kept nothing that another page sees"
        page.reload()
        until(page, SETTLED)
    page.evaluate("localStorage.removeItem('heard')")
    other.close()
    return page


def complaints(page) -> list[str]:
    """Complaints of the browser, and whatever was asked for outside."""
    outside = [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))]
    return page.errors + [f"asks for {url}" for url in outside]


def formulas(page) -> list[str]:
    """TeX that stands in the text as it was typed, and formulas that show nothing."""
    found = page.evaluate(
        r"""() => {
          const { outerHTML } = document.querySelector("main"); // parsed, not cloned: clones of pictures are fetched
          const shown = new DOMParser().parseFromString(outerHTML, "text/html").body;
          shown.querySelectorAll("pre, code, script, annotation").forEach((one) => one.remove());
          const typed = shown.textContent.match(/\\[(\[a-z][^.]{0,40}/g) ?? [];
          const flat = (one) => one.checkVisibility() && !(one.getBoundingClientRect().width > 2);
          return [...typed, ...[...document.querySelectorAll("main math")].filter(flat).map((one) => one.textContent)];
        }"""
    )
    return [f"formula: {text}" for text in found]


def pictures(page) -> list[str]:
    """Pictures that do not show, or stretched, after the page was read from its top to its end."""
    found = page.evaluate(
        """async () => {
          for (let top = 0; top < document.documentElement.scrollHeight; top += 600) {
            window.scrollTo(0, top);
            await new Promise((done) => setTimeout(done));
          }
          const broken = [];
          for (const image of document.images) {
            if (!image.offsetParent) continue; // the picture of a figure that plays, or what is folded
            image.loading = "eager";
            await image.decode().catch(() => broken.push(image.src));
            const [wide, high] = [image.clientWidth / image.naturalWidth, image.clientHeight / image.naturalHeight];
            const padding = parseFloat(getComputedStyle(image).padding) || 0;
            if (!padding && Math.abs(wide / high - 1) > 0.03) broken.push(image.src);
          }
          window.scrollTo(0, 0);
          return broken;
        }"""
    )
    return [f"no picture: {source}" for source in found]


def weight(page, name: str) -> list[str]:
    """What a page fetched without a touch on its sliders, if that is too much."""
    files = {unquote(urlsplit(url).path) for url in page.requests if url.startswith("file:")}
    size, most = sum(Path(file).stat().st_size for file in files), FRONT if name == "index.html" else OTHER
    return [f"weighs {size} bytes in {len(files)} files, at most {most} are allowed"] if size > most else []


#: How far the page scrolls sideways, and what it has that reaches beyond its window.
WIDE = """() => {
  const page = document.documentElement, seen = page.clientWidth, beyond = page.scrollWidth - seen;
  if (beyond <= 1) return [];
  const wide = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > seen + 1);
  const names = wide.slice(0, 6).map((one) => `${one.localName}.${one.classList}`);
  return [`scrolls sideways by ${beyond} of ${seen} pixels: ${names.join(", ")}`];
}"""


def width(page) -> list[str]:
    """Whether the page scrolls sideways."""
    return page.evaluate(WIDE)


#: Opens all folds, asks of each thing that scrolls in itself whether that is to be seen, and closes them.
COLUMNS = """async () => {
  const folds = [...document.querySelectorAll("details:not([open])")];
  const hidden = [...document.querySelectorAll(".toggle-hidden")];
  folds.forEach((one) => { one.open = true; });
  hidden.forEach((one) => one.classList.remove("toggle-hidden"));
  await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); setTimeout(done, 1000); });
  const found = [...document.querySelectorAll("main *")].filter((box) => {
    if (box.scrollWidth - box.clientWidth <= 8 || !box.clientWidth || box.closest("svg, math")) return false;
    const { overflowX, maskImage } = getComputedStyle(box);
    if (overflowX === "visible" || box.matches("input, select, textarea")) return false; // what holds it is asked
    return overflowX === "hidden" || maskImage === "none";
  }).map((box) => `${box.localName}.${box.className}: ${box.textContent.trim().slice(0, 40)}`);
  folds.forEach((one) => { one.open = false; });
  hidden.forEach((one) => one.classList.add("toggle-hidden"));
  return found;
}"""


def columns(page) -> list[str]:
    """What is wider than its place and does not scroll there, or scrolls and does not fade where it goes on."""
    return [f"cut off: {text}" for text in page.evaluate(COLUMNS)]


#: Outputs and reveals that a reader sees though they answer a prediction, and predictions without a field.
GIVEN_AWAY = """() => {
  const boxes = [...document.querySelectorAll(".admonition.predict, .admonition.reveal")];
  return boxes.filter((box) => box.matches(".predict")).flatMap((box) => {
    const reveal = boxes[boxes.indexOf(box) + 1];
    const between = (one) => box.compareDocumentPosition(one) & 4 && !box.contains(one)
      && reveal.compareDocumentPosition(one) & 2 && !reveal.contains(one);
    const shown = (one) => one.checkVisibility({contentVisibilityAuto: true});
    const seen = [...document.querySelectorAll(".cell_output *")].filter((one) => between(one) && shown(one));
    const names = [...seen.map((one) => one.tagName), ...(shown(reveal) ? ["reveal"] : [])];
    return box.querySelector("form.prediction button") ? names : [...names, "no field"];
  });
}"""


def predictions(page) -> list[str]:
    """What answers a prediction and is not folded; a chapter has two predictions or more."""
    return [f"given away: {name}" for name in page.evaluate(GIVEN_AWAY)]


#: Contrast depends on what an element is, where, and on what is in it: of elements alike in that, two are enough, on
#: however many pages they stand. Those that this process has looked at are left out.
THIN = """(seen) => {
  const kind = (element) => `${element.tagName} ${element.getAttribute("class") ?? ""} ${element.style.cssText}`;
  const short = (text) => [...text].reduce((sum, one) => (Math.imul(sum, 31) + one.charCodeAt(0)) | 0, 7) + text.length;
  const here = new Map(), known = new Set(seen);
  document.querySelectorAll("body *").forEach((element) => {
    if (!element.isConnected) return;
    let look = [...new Set([...element.querySelectorAll("*")].map(kind))].sort().join("+");
    for (let at = element, up = 0; at && up < 6; at = at.parentElement, up += 1) look += `/${kind(at)}`;
    look = short(look);
    here.set(look, (here.get(look) ?? 0) + 1);
    if (known.has(look) || here.get(look) > 2) element.remove();
  });
  return [...here.keys()];
}"""
#: Looks of elements whose contrast this process has seen to be good.
seen: set[int] = set()
RUN = """async ([theme, options, inside]) => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.mode = theme;
  document.getAnimations().forEach((animation) => animation.finish());
  const where = inside ? document.querySelectorAll(inside) : document;
  const found = await axe.run(where, { resultTypes: ["violations"], preload: false, ...options });
  return found.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) =>
    `${one.id} (${theme}): ` + one.nodes.map((node) =>
      `${node.target.join(" ")} ${node.any[0]?.message ?? ""}`).join("; "));
}"""
COLOURS = ["color-contrast", "link-in-text-block"]
CONTRAST = {"runOnly": COLOURS}
#: `region` is of moderate impact at most, so that it could not be found.
ALL_BUT_CONTRAST = {"rules": {name: {"enabled": False} for name in [*COLOURS, "region"]}}


@cache
def axe() -> str:
    """The source of axe-core, as the package for playwright brings it."""
    package = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
    return (Path(package) / "axe.min.js").read_text(encoding="utf-8")


#: Whether code that is wider than its box can be scrolled by keys.
SCROLLED_BY_KEYS = """() => [...document.querySelectorAll("pre")].every((code) =>
  code.scrollWidth <= code.clientWidth || code.tabIndex >= 0)"""


def accessibility(page, themes: tuple[str, ...] = (), within: str = "") -> list[str]:
    """Serious and critical findings of axe-core, contrast only in the themes that are named.

    To look at the contrast of all empties the page of what repeats itself, so that has to be the last look.
    """
    from playwright.sync_api import TimeoutError as PlaywrightTimeout

    with suppress(PlaywrightTimeout):  # the theme does so a while after the window changed; if it doesn't, axe tells
        until(page, SCROLLED_BY_KEYS, timeout=5_000)
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(axe())
    found = page.evaluate(RUN, ["light", ALL_BUT_CONTRAST, within])
    if within:
        return found + [each for theme in themes for each in page.evaluate(RUN, [theme, CONTRAST, within])]
    if themes:
        looks = page.evaluate(THIN, list(seen))
        contrast = [each for theme in themes for each in page.evaluate(RUN, [theme, CONTRAST, ""])]
        seen.update([] if contrast else looks)
        found += contrast
    return found
