"""Ids whose starts take epochs so fast that their producer id will be used up."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.initialisations import EXHAUSTED_EPOCH
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.rules.epochs.rotations import ran_v2
from kafkatx.terms.clocks import DAY_MS
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import initialised_row
from kafkatx.words.explanation import Words, remedy, ruled_out, step
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Refs, facts

FEWEST_EPOCHS, EPOCHS_A_DAY = 100, 100
"""So many epochs taken by starts, at such a rate, are a loop and no deployments."""


@facts
class Loop:
    """Starts that take epochs so fast that they will be used up after `left` days."""

    id: str
    producer_id: int
    taken: Count
    took: Duration
    rate: Count
    left: Count
    rows: Refs


def loops(model: CaptureModel) -> Iterator[Case]:
    """Ids of the classic protocol whose starts take epochs so fast that the producer id will be used up."""
    rows = model.initialisations[model.initialisations["is_tombstone"] == 0]
    for code in distinct(rows["id_code"][rows["producer_epoch"] >= FEWEST_EPOCHS]):
        mine = rows[rows["id_code"] == code]
        mine = mine[mine["producer_id"] == mine["producer_id"][-1]]
        if ran_v2(model, int(code)):
            continue
        taken = int(mine["producer_epoch"][-1]) - int(mine["producer_epoch"][0])
        took = max(int(mine["timestamp"][-1]) - int(mine["timestamp"][0]), 1)
        if taken >= FEWEST_EPOCHS and taken * DAY_MS > EPOCHS_A_DAY * took:
            yield _loop(model, mine, taken, took)


def _loop(model: CaptureModel, mine: Array, taken: int, took: int) -> Case:
    name, rate, producer_id = (
        model.transactional_id(int(mine["id_code"][0])),
        taken * DAY_MS // took,
        int(mine["producer_id"][0]),
    )
    left = (EXHAUSTED_EPOCH - int(mine["producer_epoch"][-1])) // rate
    rows = (initialised_row(mine[0]), initialised_row(mine[-1]))
    return Case(
        facts=Loop(name, producer_id, Count(taken), Duration(took), Count(rate), Count(left), rows),
        verdict=Verdict.likely,
        severity=Severity.warning,
        transactional_id=name,
        producer_id=producer_id,
        since=int(mine["timestamp"][0]),
        until=int(mine["timestamp"][-1]),
        count=taken,
    )


LOOP = Words(
    Loop,
    title="a loop of starts: {rate} epochs a day",
    summary=(
        "{id} took {rate} epochs a day by its starts, [{perhaps} ]in a loop. Producer id {producer_id} is used up ",
        pick("left", {0: "within a day."}, "in {left:day}."),
    ),
    steps=(step("{id} took {taken:epoch} in {took}: every initTransactions takes one or two", cites="rows"),),
    considered=(ruled_out("transactions v2", "no transaction of the id ran under it; there each takes an epoch"),),
    remedies=(
        remedy(
            "Find out what starts this producer so often: a crash loop, or two owners of one id",
            "application",
        ),
    ),
)
