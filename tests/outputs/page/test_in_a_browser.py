"""Pages of recorded cases in Chromium: quiet, alone, still, within the window, and open to who has no mouse.

A few in each run; all of the collection with `pytest -m browser`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkatx.terms.printable import printable
from tests.cases.commands import run
from tests.evidence import cases, fixtures
from tests.outputs.page.browser import SCHEMES, WIDE, WINDOWS, Visit, visit

FEW = ("c3-stuck-prepare", "k10-hanging", "k39-fenced")
UNDRAWN = re.compile(r"([\d,]+) ids? without a picture")
ALL_IDS = re.compile(r"All ([\d,]+) ids at a glance")
NAMED = "() => [...document.querySelectorAll('figure figcaption b')].map(one => one.textContent)"
LISTED = "() => [...document.querySelectorAll('.members tbody td:first-child')].map(one => one.textContent)"
PLACED = """id => {
  const box = document.getElementById(id).getBoundingClientRect();
  return location.hash === '#' + id && box.top >= -1 && box.top < innerHeight;
}"""


def chosen() -> list[Any]:
    few = [pytest.param(fixtures() / name, id=name) for name in FEW]
    return few + [pytest.param(case, id=f"all-{case.name}", marks=pytest.mark.browser) for case in cases()]


@pytest.mark.parametrize("case", chosen())
def test_a_page_stands_in_a_browser(case: Path, browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "incident.html"
    assert run("report", str(case), "--out", str(page)).code == 0
    document = json.loads(run("diagnose", str(case), "--json").out)
    histories = json.loads(run("history", str(case), "--all", "--json").out)["histories"]
    faults: list[str] = []
    for scheme in SCHEMES:
        for name, window in WINDOWS.items():
            with visit(browser, page, scheme, window) as seen:
                faults += [f"{scheme}, {name}: {fault}" for fault in looks_wrong(seen)]
    with visit(browser, page) as seen:
        faults += [*unseen(seen, document), *unreached(seen, document), *undrawn(seen, histories)]
    assert not faults


def looks_wrong(seen: Visit) -> Iterator[str]:
    """What is wrong with how it stands there, folded as it comes and then with all that is folded open."""
    yield from (f"moved by {moved}" for moved in (seen.shift,) if moved)
    yield from seen.sideways()
    yield from seen.unprinted()
    seen.unfold()
    yield from seen.sideways()
    yield from seen.unread()
    yield from seen.inaccessible()
    if not seen.is_black_on_white():
        yield "it is pale on paper"
    yield from (*seen.faults, *seen.requests)


def unseen(seen: Visit, document: dict[str, Any]) -> Iterator[str]:
    """An incident of one finding is told on the first screen: what, what to do, how sure, what is left open."""
    if len(document["findings"]) == 1:
        bottom = seen.page.evaluate("() => document.querySelector('.cause').getBoundingClientRect().bottom")
        if bottom > WIDE["height"]:
            yield f"the answer ends at {bottom}"


def unreached(seen: Visit, document: dict[str, Any]) -> Iterator[str]:
    """Findings that nobody gets to by Tab and Enter."""
    leads = seen.tabbed()
    for found in document["findings"]:
        if f"#{found['id']}" not in leads:
            yield f"no Tab leads to {found['id']}"
            continue
        seen.page.locator(f'a[href="#{found["id"]}"]').first.focus()
        seen.page.keyboard.press("Enter")
        if not seen.page.evaluate(PLACED, found["id"]):
            yield f"a link does not lead to {found['id']}"


def undrawn(seen: Visit, histories: list[dict[str, Any]]) -> Iterator[str]:
    """Ids that have neither a timeline nor a place in the table, and those that nobody counted."""
    drawn, listed = seen.page.evaluate(NAMED), seen.page.evaluate(LISTED)
    text = seen.page.evaluate("() => document.body.textContent")
    left = sum(int(number.replace(",", "")) for number in UNDRAWN.findall(text))
    if len(drawn) + left != len(histories):
        yield f"{len(drawn)} timelines and {left} without, of {len(histories)} ids"
    names = {printable(one["transactional_id"]) for one in histories if one["transactional_id"] is not None}
    if left == 0:
        yield from (f"no timeline of {name}" for name in names - {*drawn})
    told = sum(int(number.replace(",", "")) for number in ALL_IDS.findall(text))
    if listed and told == len(listed):
        yield from (f"{name} is not in the table" for name in names - {*listed} - {*drawn})
