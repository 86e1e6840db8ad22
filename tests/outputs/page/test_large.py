"""The page of a large cluster, a thousand ids with a hundred transactions each, stays a page."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import generate
from tests.cases.commands import run
from tests.outputs.page.browser import SCHEMES, WINDOWS, visit
from tests.outputs.page.test_page import MOST_BYTES, Page, check_harmless

IDS, TRANSACTIONS = 1_000, 100_000
ROW = re.compile(r"<tr><td>orders-app-(\d+)</td>.*?<td class=\"number\"[^>]*>([\d,]+)</td>", re.DOTALL)

FINDING = re.compile(r'<details class="finding [^"]*" id="(\w+)"')


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    evidence = generate.tiny(folder / "data", TRANSACTIONS, ids=IDS)
    file = folder / "incident.html"
    assert run("report", str(evidence), "--out", str(file)).code == 0
    return file


def test_it_is_small_and_leaves_no_id_out(large: Path) -> None:
    raw = large.read_bytes()
    assert len(raw) < MOST_BYTES
    page = Page(raw.decode())
    check_harmless(page, raw)
    rows = ROW.findall(raw.decode())
    assert {int(number) for number, _ in rows} == {*range(IDS)}
    assert sum(int(count.replace(",", "")) for _, count in rows) == TRANSACTIONS


def test_the_ids_of_the_first_findings_have_a_picture(large: Path) -> None:
    page = Page(large.read_text())
    first = FINDING.findall(large.read_text())[:10]
    assert len({*first}) == 10
    assert not [id for id in first if f"picture-{id}" not in page.ids]


@pytest.mark.browser
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_stands_still_and_within_the_window(large: Path, browser: Any, scheme: str, window: str) -> None:
    with visit(browser, large, scheme, WINDOWS[window]) as seen:
        assert seen.shift == 0
        assert not [*seen.sideways(), *seen.faults, *seen.requests]
