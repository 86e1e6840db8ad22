"""The truth fuzz, a portion of it: seeds that are the same in each run, and every failure ever found."""

import json

import pytest

from tests.fuzz.kinds import KINDS
from tests.fuzz.oracle import false_claims, said_of
from tests.fuzz.run import KNOWN, OPEN, drawn, known, outcomes

SHARES = [
    *(("files", range(first, first + 125)) for first in range(0, 500, 125)),
    *(("directories", range(first, first + 25)) for first in range(0, 50, 25)),
    *(("texts", range(first, first + 25)) for first in range(0, 50, 25)),
    ("subsets", range(7, 14_000, 280)),
    ("exports", range(100)),
]
"""Kinds and seeds, in parts that processes take by turns."""


@pytest.mark.parametrize(("kind", "seeds"), SHARES, ids=[f"{kind}-{seeds.start}" for kind, seeds in SHARES])
def test_what_is_damaged_is_read_and_leads_to_no_false_claim(kind: str, seeds: range) -> None:
    assert _failures(drawn(kind, seeds)) == []


def test_what_once_failed_does_so_no_more() -> None:
    assert _failures(enumerate(known())) == []


def _failures(work) -> list[str]:
    """What failed, as a command line that tries it again."""
    return [
        f"seed {number}: python -m tests.fuzz {kind} --trial '{json.dumps(trial)}': {'; '.join(faults)}"
        for number, (kind, trial), faults, _ in outcomes(work)
        if faults
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_is_always_the_same_trial(kind: str) -> None:
    first, second = (KINDS[kind].drawn(11, False) for _ in range(2))
    assert first == second
    assert json.loads(json.dumps(first)) == first


def test_false_claims_would_be_seen() -> None:
    """What is made surer than it is, what is told of a healthy id, and what is new and proved."""
    whole = [one for one in said_of("k39-timeout", "all") if one["rule"] == "transaction_timed_out"]
    assert whole
    assert false_claims("k39-timeout", whole) == []
    healthy = {**whole[0], "transactional_id": "orders-sink-0", "producer_id": None, "subjects": []}
    refuted = {**whole[0], "rule": "fenced_by_new_instance"}
    new = {**whole[0], "rule": "stuck_prepare", "verdict": "proved", "severity": "error"}
    for wrong, word in ((healthy, "noise"), (refuted, "wrong"), (new, "new")):
        assert any(text.startswith(word) for text in false_claims("k39-timeout", [wrong])), word


def test_a_hang_and_a_crash_are_told_with_their_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKATX_FUZZ_SECONDS", "1")
    work = [(1, ("texts", {"sleeps": 30})), (2, ("texts", {"kills": 9})), (3, ("texts", {}))]
    found = {number: faults for number, _, faults, _ in outcomes(work)}
    assert "no answer in time" in found[1][0]
    assert "ended with -9" in found[2][0]
    assert "KeyError" in found[3][0]


def test_known_failures_are_trials() -> None:
    assert all(kind in KINDS for kind, _ in (*known(), *known(OPEN)))
    assert KNOWN.read_text().startswith("#")
