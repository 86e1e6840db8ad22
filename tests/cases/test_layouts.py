"""A failure is told whatever logger, shipper, language or paste stands around its message.

The layouts are those of the world (layouts.txt), the messages the catalogue's (failing_messages.py). What one usual
layout tells of a message, every other tells as well; each layout shows some of the messages.
"""

from pathlib import Path
from typing import Any

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from tests.cases.failing_messages import messages
from tests.cases.layouts import Layout, layouts

TOLD = ("findings", "unexplained")
USUAL = next(layout for layout in layouts() if layout.name == "python logging, usual")
SHOWN = 2
"""Messages that one layout shows."""
LEAST_TOLD, LEAST_TIMED = 0.96, 0.97
"""Shares that are reached."""


def _told(text: str, folder: Path) -> dict[str, Any]:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    try:
        return document(diagnose([page]), "test")
    except NothingReadableError:
        return {"answer": {"state": "not read"}, "findings": []}


def _is_told(said: dict[str, Any]) -> bool:
    return said["answer"]["state"] in TOLD


def _warns(said: dict[str, Any]) -> bool:
    return any(finding["severity"] != "info" for finding in said["findings"])


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Messages that tell a failure in a usual layout: those of serializers, or that are tried again, tell none."""
    folder = tmp_path_factory.mktemp("usual")
    return [text for text in sorted(messages().values()) if _warns(_told(USUAL.show(text), folder))]


@pytest.fixture(scope="module")
def shown(failing: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Layout, str, dict[str, Any]]]:
    """Each layout with some of the messages, and what is told of the text."""
    folder, step = tmp_path_factory.mktemp("shown"), len(failing) // SHOWN
    cases = [
        (layout, failing[(number * 3 + step * turn) % len(failing)])
        for number, layout in enumerate(layouts())
        for turn in range(SHOWN)
    ]
    return [(layout, text, _told(layout.show(text), folder)) for layout, text in cases]


def test_most_messages_of_the_catalogue_tell_a_failure_in_a_usual_layout(failing: list[str]) -> None:
    assert len(failing) > 0.8 * len(messages())


def test_a_failure_is_told_in_every_layout(shown: list[tuple[Layout, str, dict[str, Any]]]) -> None:
    silent = [f"{layout.name}: {text}" for layout, text, said in shown if not _is_told(said)]
    assert len(silent) <= (1 - LEAST_TOLD) * len(shown), "\n".join(silent)
    names = [line.partition(": ")[0] for line in silent]
    assert [name for name in names if names.count(name) == SHOWN] == []


def test_a_failure_is_told_at_the_time_that_its_layout_prints(shown: list[tuple[Layout, str, dict[str, Any]]]) -> None:
    told = [(layout, said) for layout, _, said in shown if _is_told(said)]
    timed = [layout for layout, said in told if any(layout.tells(finding["from"]) for finding in said["findings"])]
    assert len(timed) >= LEAST_TIMED * len(told)


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-21 10:23:51,003 ERROR [main] c.e.KafkaBridge - the transactional producer is stuck and failed",
        "2026-11-21 10:23:51,003 WARN [main] c.e.Bridge - producer of orders lost in an impossible place",
        "[2026-11-21 10:23:51,003] ERROR [Transaction Widget 7] Widget failed to turn (kafka.server.Widget)",
    ],
)
def test_a_failure_that_nobody_knows_gives_no_clean_bill(line: str, tmp_path: Path) -> None:
    said = _told(f"{line}\n", tmp_path)
    assert said["answer"]["state"] == "unexplained"
    assert [finding["severity"] for finding in said["findings"]] == ["info"]


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21 10:23:51,003 ERROR [main] c.e.Orders - the invoice could not be printed\n",
        "2026-11-21 10:23:51,003 INFO [main] c.e.KafkaBridge - 412 transactions sent, 0 failed\n",
        "When a producer is fenced its transaction has failed and the error is fatal: close it.\n",
        "PASS producer tells a failed transaction\nok 3 a fenced producer is stuck\n",
    ],
)
def test_what_is_no_failure_of_kafka_is_not_told(text: str, tmp_path: Path) -> None:
    assert _told(text, tmp_path)["findings"] == []
