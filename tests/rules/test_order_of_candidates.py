"""Which cause of an open failure is named first: what the page, the call and the error itself speak for."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from kafkatx.histories.logs.testimony import SPEAKS_FOR, speaking
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.rules.candidates.words import CANDIDATES
from kafkatx.terms.catalogue.loading import statement_patterns
from kafkatx.text.events import Statement

LATE, TAKEN = "transaction_timed_out", "fenced_by_new_instance"


def told(folder: Path, text: str) -> dict[str, Any]:
    """The document of a diagnosis of a page."""
    path = folder / "page.md"
    path.write_text(text)
    return document(diagnose([path]), "0")


def causes(folder: Path, text: str) -> list[str]:
    """The causes that a page's findings name, in order: rules that found it, else those that are left open."""
    return [
        rule
        for one in told(folder, text)["findings"]
        for rule in ([open["rule"] for open in one["candidates"]] or [one["rule"]])
    ]


def said(*names: str) -> tuple[Statement, ...]:
    """Statements of a page, one a line."""
    return tuple(Statement(name, number, name, -1, -1, -1) for number, name in enumerate(names, 1))


# --- statements


def test_a_statement_that_speaks_for_a_cause_is_one_of_the_table():
    known = {row.name for row in statement_patterns()}
    assert {name for names in SPEAKS_FOR.values() for name in names} <= known
    assert set(SPEAKS_FOR) <= set(CANDIDATES)


@pytest.mark.parametrize(
    ("names", "spoken_for"),
    [
        ((), set()),
        (("long_work",), {LATE}),
        (("more_instances",), {TAKEN}),
        (("long_work", "more_instances"), set()),
        (("timeout_named", "more_instances"), {LATE}),
        (("long_work", "same_id_elsewhere"), {TAKEN}),
        (("timeout_named", "same_id_elsewhere"), set()),
        (("one_owner",), {LATE}),
        (("one_instance", "more_instances"), set()),
        (("one_broker",), set()),
    ],
)
def test_of_two_causes_that_exclude_each_other_the_weightier_words_count(names, spoken_for):
    assert set(speaking((TAKEN, LATE), said(*names))) == spoken_for


@pytest.mark.parametrize("seed", range(20))
def test_what_is_spoken_for_does_not_depend_on_the_order_of_the_lines(seed):
    rng = random.Random(seed)
    names = rng.sample(sorted({name for names in SPEAKS_FOR.values() for name in names}), 4)
    rules = rng.sample(sorted(SPEAKS_FOR), 5)
    first = speaking(rules, said(*names))
    rng.shuffle(names)
    again = speaking(rules, said(*names))
    assert set(first) == set(again) <= set(rules)


def test_that_nobody_else_has_the_id_speaks_for_a_timeout_only_where_a_new_instance_fits():
    assert speaking((LATE, "coordinator_unavailable"), said("one_owner")) == {}


TOO_FEW = (
    "[2021-05-20 08:10:08,342] ERROR [ReplicaManager broker=1] Error processing append operation on partition pay-0 "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current "
    "ISR Set(1) is insufficient to satisfy the min.isr requirement of 2 for partition pay-0\n"
)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("It happened at night.", "broker_unreachable"),
        ("We run a single broker for tests.", "misconfiguration"),
        ("All three brokers were up.", "broker_unreachable"),
        ("One broker of three went down.", "broker_unreachable"),
    ],
)
def test_words_order_the_causes_of_what_a_program_printed(words, first, tmp_path):
    assert causes(tmp_path, f"{words}\n\n{TOO_FEW}")[0] == first
