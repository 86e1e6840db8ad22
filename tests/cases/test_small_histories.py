"""Small histories, printed as each release and tool prints them: the right rule, as sure as the text is, never another.

The histories are made (tests/small_histories): what each of them is follows from the protocol, and no text of them is
anybody's. So this tells how texts fare that nobody has seen.
"""

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from tests.small_histories.answers import Answer, answers
from tests.small_histories.histories import DATA, ROWS, Conclusion, History, histories
from tests.small_histories.texts import (
    DATA_TEXTS,
    KEYLESS,
    PAIRS,
    PASTINGS,
    ROW_TEXTS,
    both,
    data_text,
    dumped_flat,
    elided_batches,
    elided_lines,
    flat,
)

SURE = ("likely", "proved")
HISTORIES, ANSWERS = list(histories()), list(answers())
OF_SEVERAL = ("two ids", "expired", "state lost")
"""Histories of several ids, or producer ids of one: rows without their keys don't tell them."""
Text = tuple[str, str]


def texts(history: History, view: str) -> Iterator[Text]:
    """Yield each way to print a view of a history, with its name."""
    is_old = "2023" in history.name
    if view == ROWS:
        for style in ROW_TEXTS:
            if not (style in KEYLESS and history.name.startswith(OF_SEVERAL)):
                yield style.__name__, "\n".join(style(history.log.rows))
    elif view == DATA:
        for batches in DATA_TEXTS:
            is_single = batches is elided_lines and history.name.startswith("records twice")  # no batch shows there
            if not is_single and (is_old or batches is not flat):
                yield batches.__name__, data_text(history.log, batches)
    else:
        for rows, batches in PAIRS:
            is_absent = batches is elided_batches and history.name.startswith("hanging")  # a marker may be left out
            if not is_absent and (is_old or rows is not dumped_flat):
                yield f"{rows.__name__}, {batches.__name__}", both(history.log, rows, batches)


def told(text: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.md"
        page.write_text(f"{text}\n")
        try:
            return document(diagnose([page]), "test")
        except NothingReadableError:
            return {"answer": {"state": "not read"}, "findings": []}


def shortfall(text: str, concludes: Conclusion) -> str | None:
    """Say in what the diagnosis of a text is not what is to be concluded from it; None where it is."""
    found = told(text)
    findings = [one for one in found["findings"] if one["rule"] != "unexplained_failure"]
    sure = {one["rule"] for one in findings if one["verdict"] in SURE}
    if false := sure - {concludes.rule} - concludes.also:
        return f"false: {false}"
    if concludes.rule is None:
        loud = {one["rule"] for one in found["findings"] if one["severity"] != "info"}
        return f"noise: {loud}" if loud else None
    named = {one["rule"] for one in findings} | {one["rule"] for each in findings for one in each["candidates"][:2]}
    if concludes.rule not in (sure if concludes.is_sure else named):
        return f"not told: {concludes.rule}, but {found['answer']['state']} {sure or named}"
    return None


VIEWS = [pytest.param(one, view, id=f"{one.name}, {view}") for one in HISTORIES for view in one.concludes]


@pytest.mark.parametrize(("history", "view"), VIEWS)
def test_a_history_is_read_right_however_it_is_printed(history: History, view: str) -> None:
    found = {name: shortfall(text, history.concludes[view]) for name, text in texts(history, view)}
    assert {name: said for name, said in found.items() if said is not None} == {}


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.name)
def test_an_answer_of_a_tool_is_read_right_in_every_shape(answer: Answer) -> None:
    assert shortfall(answer.text, answer.concludes) is None


@cache
def _rules(text: str) -> list[tuple[str, str]]:
    return sorted((one["rule"], one["verdict"]) for one in told(text)["findings"])


@pytest.mark.parametrize("paste", PASTINGS[1:], ids=lambda paste: paste.__name__)
@pytest.mark.parametrize("name", ["timed out (2023)", "in turns (2023)", "stuck commit (2023)", "marker lost (2023)"])
def test_pasting_changes_nothing(name: str, paste: Any) -> None:
    history = next(one for one in HISTORIES if one.name == name)
    for view in history.concludes:
        for style, text in texts(history, view):
            assert _rules(paste(text)) == _rules(text), style


@pytest.mark.parametrize("paste", PASTINGS[1:], ids=lambda paste: paste.__name__)
def test_pasting_changes_no_answer(paste: Any) -> None:
    for answer in ANSWERS:
        assert _rules(paste(answer.text)) == _rules(answer.text), answer.name
