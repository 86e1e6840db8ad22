"""Pages with dates cut, lines broken, signs escaped: a finding may weaken, a failure never becomes an all-clear."""

import json
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kafkatx.findings.finding import UNEXPLAINED
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from tests.cases.abridging import BROKEN, LEFT_OUT, WRITTEN, Abridging, folded, in_html, quoted, without_dates
from tests.evidence import fixtures

PAGES = fixtures() / "pages"
EXAMPLES = max(2, int(os.environ.get("KAFKATX_EXAMPLES", "40")) // 20)
"""Random ways to abridge each page, beside those that are always tried."""
TOLD = ("findings", "unexplained")
RANK = {"possible": 0, "likely": 1, "proved": 2}

ways = st.tuples(
    st.sampled_from((None, *LEFT_OUT)), st.sampled_from((None, *BROKEN)), st.sampled_from((None, *WRITTEN))
)


@pytest.mark.parametrize("name", sorted(path.name for path in PAGES.glob("*.md")))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(way=ways)
@example(way=(without_dates, None, None))
@example(way=(None, folded, quoted))
@example(way=(None, None, in_html))
def test_an_abridged_page_tells_no_more_and_is_no_all_clear(name: str, way: tuple[Abridging | None, ...]) -> None:
    text = (PAGES / name).read_text()
    for abridge in filter(None, way):
        text = abridge(text)
    whole, abridged = _told((PAGES / name).read_text()), _told(text)
    if whole["answer"]["state"] in TOLD:
        assert abridged["answer"]["state"] in TOLD, json.dumps(abridged["answer"])
    for finding in abridged["findings"]:
        assert finding["rule"] == UNEXPLAINED or _is_supported(finding, whole["findings"]), finding["summary"]


def _is_supported(finding: dict[str, Any], whole: list[dict[str, Any]]) -> bool:
    """Whether a finding is a guess, or the whole page has one of its rule that is as sure."""
    ranks = [RANK[other["verdict"]] for other in whole if other["rule"] == finding["rule"]]
    return finding["verdict"] == "possible" or max(ranks, default=-1) >= RANK[finding["verdict"]]


@cache
def _told(text: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.md"
        page.write_text(text)
        found: dict[str, Any] = document(diagnose([page]), "test")
    return found
