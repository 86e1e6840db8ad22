"""A transaction is decided, but a marker is still missing: PrepareCommit or PrepareAbort is the last word.

Mechanism    PrepareX is durable: the outcome stands. The coordinator sends markers until the leader of every partition
             has answered; a partition without a leader or below min.insync.replicas holds the whole transaction up. A
             new instance of the id gets CONCURRENT_TRANSACTIONS for as long.
Evidence     the id's latest row is Prepare*, older than ten seconds; markers in some of its partitions, none in others.
Against      a younger row (in flight); a Complete* row in another copy.
Look-alikes  hanging_transaction and open_transaction (nothing decided there); atomicity_violation (Complete* written,
             marker missing); on 4.3.1 a partition without a leader is skipped instead (KAFKA-20734).
Remedy       bring the named partitions back. Never abort by hand: the outcome is decided, a manual ABORT breaks it.
Source       KIP-98; TransactionMarkerChannelManager, TransactionCoordinator.onElection (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.participations import Status
from kafkatx.histories.story import Story
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import AFTER_HOLE
from kafkatx.rules.finding import Finding
from kafkatx.terms.times import clock, duration
from kafkatx.terms.transaction_states import state_name
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, Place, Remedy, Step
from kafkatx.words.places import begin_row, data_place, latest_row, marker_place, partition_name, parts_of, plural

RULE = "stuck_prepare"
IN_FLIGHT_MS, STUCK_MS = 10_000, 60_000


def check(story: Story) -> Iterator[Finding]:
    """One finding for each id whose latest row is Prepare* and no longer in flight."""
    for latest in story.latest[(story.latest["state"] == 2) | (story.latest["state"] == 3)]:
        if _age(story, latest) > IN_FLIGHT_MS:
            yield _stuck(story, latest)


def _age(story: Story, latest: Array) -> int:
    """Time since the decision, up to where the coordinator's log is known to reach."""
    horizon = story.state_horizons[int(latest["state_partition"])]
    end = story.facts.evidence_end if story.is_latest_known(latest) else horizon.newest
    return max(0, end - int(latest["timestamp"]))


def _stuck(story: Story, latest: Array) -> Finding:
    name, age = story.transactional_id(int(latest["id_code"])), _age(story, latest)
    state = state_name(int(latest["state"]))
    row = int(latest["transaction_row"])
    parts = list(parts_of(story, row)) if row >= 0 else []
    missing = [part for part in parts if part["status"] != Status.MARKED]
    names = ", ".join(partition_name(story, int(part["partition_code"])) for part in missing[:5])
    first = missing[0] if len(missing) == 1 else None
    topics = {story.topic_partition(int(part["partition_code"]))[0] for part in missing}
    waits = f"waits for markers in {names}" if missing else "has all its markers and waits for its own completion"
    span = story.spans[int(first["span"])] if first is not None and first["span"] >= 0 else None
    verdict = _verdict(story, latest, missing, age)
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=Severity.error if age > STUCK_MS and verdict > Verdict.possible else Severity.warning,
        summary=f"the transaction of {name} has been decided ({state}) for {duration(age)} and {waits}",
        transactional_id=name,
        producer_id=int(latest["producer_id"]),
        producer_epoch=int(latest["producer_epoch"]),
        topic=topics.pop() if len(topics) == 1 else None,
        partition=story.topic_partition(int(first["partition_code"]))[1] if first is not None else None,
        first_offset=int(span["first_offset"]) if span is not None else None,
        last_offset=int(span["last_offset"]) if span is not None else None,
        since=int(latest["timestamp"]),
        until=story.facts.evidence_end,
        steps=_steps(story, latest, row, parts, missing),
        considered=(
            Considered(
                "hanging_transaction",
                "the coordinator has decided and will write the marker when the partition answers",
                (latest_row(latest),),
            ),
            Considered("open_transaction", f"{state} is a decision; the client was told", (latest_row(latest),)),
        ),
        remedies=(_remedy(names, bool(missing)),),
    )


def _verdict(story: Story, latest: Array, missing: list[Array], age: int) -> Verdict:
    """Proved where a partition at hand goes on without its marker, for longer than any retry, by a broker's clock."""
    decided = int(latest["timestamp"])
    if not story.is_latest_known(latest) or _may_be_anothers(story, latest, missing):
        return Verdict.possible
    shown = [
        part
        for part in missing
        if part["status"] == Status.UNMARKED
        and (horizon := story.horizons.get(int(part["partition_code"]))) is not None
        and horizon.is_whole
        and horizon.broker_time > decided + IN_FLIGHT_MS
    ]
    return Verdict.proved if shown and age > STUCK_MS else Verdict.likely


def _may_be_anothers(story: Story, latest: Array, missing: list[Array]) -> bool:
    """Whether markers at hand may belong to a transaction of the id whose rows are lost, and the other way round."""
    lost = story.state_horizons[int(latest["state_partition"])].last_loss >= 0
    flags = story.transactions["flags"][story.transactions_of(int(latest["id_code"]))]
    return any(part["status"] == Status.UNDECIDED for part in missing) or bool(lost and (flags & AFTER_HOLE).any())


def _steps(story: Story, latest: Array, row: int, parts: list[Array], missing: list[Array]) -> tuple[Step, ...]:
    transaction = story.transactions[row] if row >= 0 else None
    began = begin_row(transaction) if transaction is not None else []
    marked = [marker_place(story, story.spans[int(part["marker"])]) for part in parts if part["marker"] >= 0]
    waiting: list[Place] = [data_place(story, story.spans[int(part["span"])]) for part in missing if part["span"] >= 0]
    decided = (
        f"at {clock(int(latest['timestamp']))} the coordinator wrote "
        f"{state_name(int(latest['state']))}: the outcome stands"
    )
    steps = [Step(decided, "it is the latest row of the id in every copy at hand", (*began, latest_row(latest)))]
    if marked:
        steps.append(
            Step(f"{plural(len(marked), 'partition')} got the marker", "markers of this decision", tuple(marked[:4]))
        )
    for part in missing[:4]:
        horizon = story.horizons.get(int(part["partition_code"]))
        why = "its log is not in the evidence"
        if horizon is not None:
            why = f"its log is read to offset {horizon.log_end - 1}, last written {clock(horizon.newest)}"
        places = [
            place
            for place in waiting
            if f"{place.topic}-{place.partition}" == partition_name(story, int(part["partition_code"]))
        ]
        fits = "has markers that fit more than one decision" if part["status"] == Status.UNDECIDED else "has none"
        steps.append(Step(f"{partition_name(story, int(part['partition_code']))} {fits}", why, tuple(places)))
    return tuple(steps)


def _remedy(names: str, missing: bool) -> Remedy:
    if missing:
        text = (
            f"bring {names} back (leader, in-sync replicas, min.insync.replicas); the markers "
            "follow by themselves. Do not abort by hand"
        )
    else:
        text = (
            "see whether this partition of __transaction_state can be written (in-sync replicas); "
            "restart its leader only if it can. Do not abort by hand"
        )
    return Remedy(
        text,
        "operator",
        derived_from="the decision is durable and the markers are missing",
        cost="readers and new instances of the id wait until then",
    )
