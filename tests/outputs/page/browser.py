"""What a page does in a browser: Debian's Chromium without a screen, driven by Playwright, audited by axe-core.

Needs the extra `browser` and the program `chromium`; a test is skipped, and says so, where one is missing.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
WINDOWS = {"wide": WIDE, "narrow": NARROW}
SCHEMES = ("light", "dark")
SERIOUS = ("serious", "critical")
WATCH = """() => {
  window.shifts = [];
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) window.shifts.push(entry.value);
  }).observe({type: 'layout-shift', buffered: true});
}"""
SIDEWAYS = """() => {
  const root = document.documentElement;
  const found = root.scrollWidth > root.clientWidth ? [`the page: ${root.scrollWidth} of ${root.clientWidth}`] : [];
  for (const one of document.body.querySelectorAll('*')) {
    const scrolls = ['auto', 'scroll'].includes(getComputedStyle(one).overflowX);
    if (scrolls && one.scrollWidth > one.clientWidth) found.push(one.outerHTML.slice(0, 120));
  }
  return found;
}"""
UNREAD = """() => {
  const found = [];
  for (const picture of document.querySelectorAll('.picture')) {
    const frame = picture.getBoundingClientRect(), seen = [];
    for (const text of picture.querySelectorAll('text')) {
      const box = text.getBoundingClientRect(), said = text.firstChild.textContent;
      if (!box.width) continue;
      if (box.height < 10) found.push(`${said} is ${box.height} high`);
      if (box.left < frame.left - 1 || box.right > frame.right + 1) found.push(`${said} is cut`);
      const under = seen.find(([other]) => other.left < box.right && box.left < other.right &&
        other.top + 2 < box.bottom && box.top + 2 < other.bottom);
      if (under) found.push(`${said} stands on ${under[1]}`);
      seen.push([box, said]);
    }
  }
  return found;
}"""
ACTIVE = """() => {
  const at = document.activeElement;
  const is_closed = at.tagName === 'SUMMARY' && !at.parentElement.open;
  return [at.tagName, at.getAttribute('href'), is_closed];
}"""
PAPER = """() => {
  dispatchEvent(new Event('beforeprint'));
  const shown = one => one.getClientRects().length > 0;
  const found = [...document.querySelectorAll('details:not([open])')].filter(shown).map(one => `${one.id} is folded`);
  found.push(...[...document.querySelectorAll('.pointing, .go')].filter(shown).map(one => one.textContent));
  const twice = [...document.querySelectorAll('svg text')].filter(one => getComputedStyle(one).stroke !== 'none');
  found.push(...twice.slice(0, 3).map(one => `${one.textContent} is painted twice`));
  dispatchEvent(new Event('afterprint'));
  return found;
}"""
INK = "() => ['body', 'h1', '.dim'].map(one => getComputedStyle(document.querySelector(one)).color)"
PAINT = "() => performance.getEntriesByName('first-contentful-paint').map(entry => entry.startTime)[0]"
SETTLED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(window.shifts), 50)))"


def missing() -> str:
    """Return what is not there that a browser test needs, empty where all is."""
    if not all(map(find_spec, ("axe_playwright_python", "playwright"))):
        return "the extra `browser` is not installed (CONTRIBUTING.md says how)"
    return "" if CHROMIUM else "there is no program `chromium` (CONTRIBUTING.md says which)"


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Start Chromium, or skip the test with the reason."""
    if why := missing():
        pytest.skip(why)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@dataclass(slots=True, repr=False)
class Visit:
    """A page that stands in a window; `faults` are lines of its console, `requests` what it asked for but itself."""

    page: Any
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, file: Path) -> None:
        """Open a file and wait until it stands."""
        address = file.as_uri()
        self.page.on("console", lambda said: self.faults.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda one: self.requests.append(one.url) if one.url != address else None)
        self.page.add_init_script(f"({WATCH})()")
        self.page.goto(address)

    @property
    def shift(self) -> float:
        """How far things moved after they were painted."""
        return sum(self.page.evaluate(SETTLED))

    @property
    def first_paint_ms(self) -> float:
        """When the first of the page's content was on the screen, by the browser's clock."""
        self.page.evaluate(SETTLED)
        return float(self.page.evaluate(PAINT))

    def is_black_on_white(self) -> bool:
        """Whether what is printed is dark, whatever the colours of the screen."""
        self.page.emulate_media(media="print")
        colours = self.page.evaluate(INK)
        self.page.emulate_media(media="screen")
        return all(max(map(int, re.findall(r"\d+", colour)[:3])) < 128 for colour in colours)

    def unprinted(self) -> list[str]:
        """What is folded on paper, makes no sense there, or is in its text twice."""
        self.page.emulate_media(media="print")
        found = list(self.page.evaluate(PAPER))
        self.page.emulate_media(media="screen")
        return found

    def sideways(self) -> list[str]:
        """What must be scrolled sideways to be read."""
        return list(self.page.evaluate(SIDEWAYS))

    def unread(self) -> list[str]:
        """Texts of pictures that are too small, cut, or stand on one another."""
        return list(self.page.evaluate(UNREAD))

    def unfold(self) -> None:
        """Open all that is folded."""
        self.page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")

    def inaccessible(self) -> list[str]:
        """What axe-core finds that keeps people out, with the first places of each."""
        from axe_playwright_python.sync_playwright import Axe

        told = Axe().run(self.page).response["violations"]
        return [
            f"{one['id']} ({one['impact']}): {[node['html'][:90] for node in one['nodes'][:3]]}"
            for one in told
            if one["impact"] in SERIOUS
        ]

    def tabbed(self) -> list[str]:
        """Go through the page with Tab alone, opening by Enter what is folded; returns where the links on it lead."""
        leads: list[str] = []
        for _ in range(5_000):
            self.page.keyboard.press("Tab")
            tag, href, is_closed = self.page.evaluate(ACTIVE)
            if tag == "BODY":
                return leads
            if is_closed:
                self.page.keyboard.press("Enter")
                assert self.page.evaluate("() => document.activeElement.parentElement.open")
            leads += [href] if href else []
        raise AssertionError("there is no end to it")


@contextlib.contextmanager
def visit(
    browser: Any, file: Path, scheme: str = "light", window: dict[str, int] = WIDE, scale: int = 1
) -> Iterator[Visit]:
    """Open a page in a window of its own, which is closed afterwards with all that it held."""
    context = browser.new_context(viewport=window, color_scheme=scheme, device_scale_factor=scale, offline=True)
    visited = Visit(context.new_page())
    try:
        visited.open(file)
        yield visited
    finally:
        context.close()
