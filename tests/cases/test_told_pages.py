"""Texts as people paste them from all families of clients, brokers and tools: nothing in them may be lost or accused.

Each text of `fixtures/pages/FAMILY` and `fixtures/pages_later/FAMILY` has an expectation of what a committer concludes
from it alone, written before it was ever diagnosed. Which texts fall short of it is a golden list: one that a change
makes better or worse shows.
"""

import json

from tests.cases.told_texts import FOLDERS, told
from tests.evidence import fixtures
from tests.golden import Golden

EXPECTED = {
    f"{folder.parent.parent.name}/{folder.parent.name}/{name}": expected
    for pages in FOLDERS
    for folder in sorted(pages.glob("*/expected.json"))
    for name, expected in json.loads(folder.read_text()).items()
}
SURE = ("likely", "proved")
MOST_CANDIDATES = 2


def _claims(name: str) -> set[str]:
    """Return the rules that say something for sure."""
    found = [finding for finding in told(name)["findings"] if finding["rule"] != "unexplained_failure"]
    return {finding["rule"] for finding in found if finding["verdict"] in SURE}


def _named(name: str) -> set[str]:
    """Return the rules that are found, and those that are named first among the causes that fit."""
    findings = told(name)["findings"]
    found = {finding["rule"] for finding in findings} - {"unexplained_failure"}
    return found | {one["rule"] for finding in findings for one in finding["candidates"][:MOST_CANDIDATES]}


def _shortfall(name: str) -> str | None:
    """Say in what the diagnosis of a text falls short of its expectation."""
    expected = EXPECTED[name]
    if false := _claims(name) & set(expected["never"]):
        return f"false: {', '.join(sorted(false))}"
    if not expected["failure"]:
        loud = {finding["rule"] for finding in told(name)["findings"] if finding["severity"] != "info"}
        return f"noise: {', '.join(sorted(loud))}" if loud else None
    if told(name)["answer"]["state"] not in ("findings", "unexplained"):
        return f"nothing is told: {told(name)['answer']['state']}"
    if not _named(name) & set(expected["causes"]):
        return f"no cause named of {', '.join(expected['causes'])}"
    one = expected["one_cause"]
    return f"not sure: {one}" if one is not None and one not in _claims(name) else None


def test_every_text_has_an_expectation() -> None:
    texts = {path.relative_to(fixtures()).as_posix() for pages in FOLDERS for path in pages.glob("*/*.md")}
    assert texts == set(EXPECTED)


def test_what_falls_short_is_known(golden: Golden) -> None:
    short = [f"{name}: {said}" for name in EXPECTED if (said := _shortfall(name)) is not None]
    golden("told_pages_that_fall_short.txt", "\n".join(short) + "\n")
