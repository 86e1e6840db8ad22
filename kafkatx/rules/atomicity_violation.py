"""One transaction, two outcomes: committed in one partition, aborted or left without its end in another.

Mechanism    An operator aborts one partition by hand and the client commits afterwards; the end of a log was lost with
             the marker (unclean election, disk); a coordinator skipped one without a leader (4.x, KAFKA-20734).
Evidence     the coordinator's decision and completion for partitions, and what ended the data in each of them; on a
             page an abort of one partition by hand, and the client's commit behind it.
Against      a log that ends too early, has gaps, or was compacted; a match of markers that is not certain.
Look-alikes  stuck_prepare (not completed yet); repeated markers after a failover (harmless); markers without data.
Remedy       list both sides, publish again or compensate. No tool writes a COMMIT; an abort makes the loss final.
Source       KIP-98, KIP-664; TransactionMarkerChannelManager, UnifiedLog (0.11 to 4.4); KAFKA-20734.
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.conditions import lost_the_tail, took_the_leader
from kafkatx.findings.grouping import DataColumns, columns_of_part
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import known
from kafkatx.histories.transaction_partitions import Status
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import AFTER_HOLE, PREPARE_COMMIT
from kafkatx.rules.answers.half_aborted import HALF_WORDS, half_aborted
from kafkatx.rules.atomicity.fates import Fate, fate
from kafkatx.rules.atomicity.lost_markers import left_out, next_entry, recovered
from kafkatx.rules.atomicity.reach import NOT_WHOLE, OnePartition, disputed, is_compacted, is_over_gap, missing_for
from kafkatx.rules.hanging.live_checks import TOOL
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import completion_row, decision_row, marker_ref, parts_of
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import data, instant, topic_partition
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Data, Instant, JoinedValues, OffsetRange, Refs, TopicPartition, facts

MOST_SUMMED_UP, MOST_TOLD = 3, 5


@facts
class Facts:
    """A completed transaction with partitions that ended otherwise; `as_decided` counts those that did not.

    `unmarked` are the first records without a marker, `describes_producers` whether brokers can be asked for them.
    `left_out_at` is when the coordinator's log says that it left out every marker that is missing. Else the first of
    them was gone at `lost_before`; `recovered_at` is when a broker read that log anew from its disk in between.
    """

    id: str
    producer_id: int
    decision: str
    decided_at: Instant
    partitions: JoinedValues[TopicPartition]
    fates: tuple[Fate, ...]
    as_decided: Count
    told: Count
    data: Data
    unmarked: OffsetRange | None
    describes_producers: bool
    left_out_at: Instant | None
    lost_before: Instant | None
    recovered_at: Instant | None
    decided: Refs
    completed: Refs
    markers: Refs
    left_out: Refs
    recovered: Refs

    @property
    def odd(self) -> Count:
        """How many partitions ended otherwise."""
        return Count(len(self.partitions))

    @property
    def takes_records(self) -> bool:
        """Whether records are missing with their marker: what took them came behind the decision."""
        return not self.data

    @property
    def more(self) -> Count | None:
        """How many of them the summary does not tell."""
        return Count(len(self.partitions) - MOST_SUMMED_UP) if len(self.partitions) > MOST_SUMMED_UP else None

    @property
    def summed_up(self) -> JoinedValues[Fate]:
        """The fates that the summary tells."""
        return JoinedValues(self.fates[:MOST_SUMMED_UP])


def find(model: CaptureModel) -> Found:
    """One case for each completed transaction with a partition that ended otherwise, or not at all."""
    yield from half_aborted(model)
    yield from disputed(model)
    rows, spans, t = model.parts.rows, model.spans, model.transactions
    completed = t["completion_offset"][rows["transaction"]] >= 0
    ended_otherwise = (rows["span"] >= 0) & (rows["span"] != rows["marker"])
    ended_otherwise[ended_otherwise] &= spans["marker_offset"][rows["span"][ended_otherwise]] >= 0
    ended_otherwise[ended_otherwise] &= (
        spans["marker_kind"][rows["span"][ended_otherwise]] == t["decision"][rows["transaction"][ended_otherwise]] - 2
    )  # of a marker that the cleaner emptied, or whose record a text lacks, nobody knows the kind
    whole = (t["flags"][rows["transaction"]] & AFTER_HOLE) == 0
    unmarked = (rows["status"] == Status.UNMARKED) & (t["decision"][rows["transaction"]] == PREPARE_COMMIT) & whole
    candidates = np.flatnonzero(completed & (ended_otherwise | unmarked))
    transactions, begins = np.unique(rows["transaction"][candidates], return_index=True)
    for transaction, numbers in zip(transactions.tolist(), np.split(candidates, begins[1:]), strict=False):
        yield from _judged(model, transaction, [rows[number] for number in numbers])


def _judged(model: CaptureModel, transaction: int, parts: list[Array]) -> Found:
    proved = [part for part in parts if part["status"] != Status.UNMARKED and not is_over_gap(model, part)]
    unmarked = [part for part in parts if part["status"] == Status.UNMARKED and not is_compacted(model, part)]
    missing = [(part, missing_for(model, transaction, part)) for part in unmarked]
    missing += [(part, NOT_WHOLE) for part in parts if part["status"] != Status.UNMARKED and is_over_gap(model, part)]
    bad = [*proved, *(part for part, phrase in missing if phrase is None)]
    if bad:
        is_proved = bool(proved) or all(_left_out(model, transaction, part) for part in bad)
        yield _case(model, transaction, bad, Verdict.proved if is_proved else Verdict.likely)
    name = model.transactional_id(int(model.transactions["id_code"][transaction]))
    for part, phrase in missing:
        if phrase is not None:
            yield phrase.of(OnePartition(name, topic_partition(model, int(part["partition_code"]))))


def _left_out(model: CaptureModel, transaction: int, part: Array) -> list[int]:
    """Lines by which the coordinator left a marker out that is missing; none of data that another one ended."""
    if part["status"] != Status.UNMARKED:
        return []
    return left_out(model, transaction, topic_partition(model, int(part["partition_code"])))


def _case(model: CaptureModel, transaction: int, bad: list[Array], verdict: Verdict) -> Case:
    row = model.transactions[transaction]
    facts = _facts(model, transaction, bad)
    place = columns_of_part(model, bad[0]) if len(bad) == 1 else DataColumns()
    return Case(
        facts=facts,
        verdict=verdict,
        severity=Severity.error,
        transactional_id=facts.id,
        producer_id=int(row["producer_id"]),
        producer_epoch=known(row["producer_epoch"]),
        since=known(row["started_at"]),
        until=int(row["completion_timestamp"]),
        **place,
    )


def _facts(model: CaptureModel, transaction: int, bad: list[Array]) -> Facts:
    row = model.transactions[transaction]
    odd = {int(part["partition_code"]) for part in bad}
    fates = tuple(fate(model, part) for part in bad[:MOST_TOLD])
    marked = [part for part in parts_of(model, transaction) if part["status"] == Status.MARKED]
    good = [part for part in marked if int(part["partition_code"]) not in odd]
    skips = [_left_out(model, transaction, part) for part in bad]
    lines = [line for found in skips for line in found] if all(skips) else []
    lost_before, again = _when_lost(model, transaction, bad) if not lines else (None, [])
    return Facts(
        id=model.transactional_id(int(row["id_code"])),
        producer_id=int(row["producer_id"]),
        decision="COMMIT" if row["decision"] == PREPARE_COMMIT else "ABORT",
        decided_at=Instant(row["decided_at"]),
        partitions=JoinedValues(topic_partition(model, int(part["partition_code"])) for part in bad),
        fates=fates,
        as_decided=Count(len(good)),
        told=Count(len(good) + len(bad)),
        data=data(model, (model.spans[int(part["span"])] for part in bad if part["span"] >= 0)),
        unmarked=next((one.data for one in fates if one.data is not None and one.ended_by is None), None),
        describes_producers=model.facts.describes_producers,
        left_out_at=instant(model.logs.times[lines[0]]) if lines else None,
        lost_before=instant(lost_before) if lost_before is not None else None,
        recovered_at=instant(model.logs.times[again[0]]) if again else None,
        decided=tuple(decision_row(row)),
        completed=tuple(completion_row(row)),
        markers=tuple(marker_ref(model, model.spans[int(part["marker"])]) for part in good[:4]),
        left_out=event_refs(model, lines, 3),
        recovered=event_refs(model, again, 2),
    )


def _when_lost(model: CaptureModel, transaction: int, bad: list[Array]) -> tuple[int | None, list[int]]:
    """When the first marker that is missing was gone, and lines of brokers that recovered its log before that."""
    first = next((part for part in bad if part["status"] == Status.UNMARKED), None)
    if first is None:
        return None, []
    decided, completed = (int(model.transactions[transaction][name]) for name in ("decided_at", "completion_timestamp"))
    before = next_entry(model, first, completed)
    return before, recovered(model, topic_partition(model, int(first["partition_code"])), decided, before)


RECORDS = pick(
    "data",
    {(): "what is missing in {partitions: and }"},
    pick("data.records", {0: "{data}"}, "the {data.records:record} of {data}"),
)
TAIL = "an unclean election, a broker that stopped hard before its disk had the records, or a restored disk"
AT_DECISION = "an unclean election, a restored disk, or a partition without a leader at the decision"
LOST_BETWEEN = (
    "Find the cause ",
    pick("lost_before", {None: "after {decided_at}"}, "between {decided_at} and {lost_before}, the next marker there"),
    pick(
        "recovered_at",
        {None: f": {AT_DECISION}"},
        ". Look first at {recovered_at}, when a broker recovered that log: a restored disk, or an end that was not on "
        "it yet",
    ),
)
LOST = pick("unmarked", {None: "If they are lost, send"}, "If it is lost, send")
SEEN = " in the application. Readers saw them, though the transaction was aborted. "
DECIDED = pick("decision", {"COMMIT": "committed"}, "aborted")
WORDS = Words(
    Facts,
    title=pick(
        "left_out_at",
        {None: "not atomic: {decision} is missing in {odd:partition}"},
        "not atomic: {decision} was never written in {odd:partition}",
    ),
    summary=(
        "The coordinator ",
        DECIDED,
        " the transaction of {id} at {decided_at}, but[ {perhaps}] not in every partition: "
        "{summed_up:; }[; {more} more].[ It left the marker out at {left_out_at}, since it knew no leader there, and "
        "never sends it again.]",
    ),
    steps=(
        step("The coordinator decided {decision} for {told:partition} and completed it", cites="decided completed"),
        step("{as_decided:partition} got the {decision} marker", cites="markers", needs="as_decided"),
        step(
            (
                "{each}",
                pick(
                    "each.is_own_too_late",
                    {True: "; the {decision} of the coordinator came later and ended nothing"},
                    "",
                ),
            ),
            pick(
                "each.ended_by",
                {None: "the log goes on to offset {each.last_offset}[, last written {each.last_written}]"},
                "the coordinator decided {decision}",
            ),
            each="fates",
            cites="each.places",
        ),
        step("The coordinator left the marker out", "a line of its log at {left_out_at}", cites="left_out"),
        step("A broker recovered that log from its disk at {recovered_at}, after the decision", cites="recovered"),
    ),
    considered=(
        ruled_out("stuck_prepare", "the coordinator completed it and sends no more markers", cites="completed"),
        ruled_out("hanging_transaction", "the records belong to a transaction that was decided", cites="decided"),
        left_open(
            "a marker in another copy of the log",
            "this may not be the leader's",
            needs="perhaps",
            decided_by="the leader's log of {partitions: and }",
        ),
    ),
    remedies=(
        remedy(
            (
                "Check the leader's log of {unmarked.place} for the COMMIT marker; do not abort it yet. ",
                pick(
                    "describes_producers",
                    {
                        True: "If CurrentTransactionStartOffset of producer id {producer_id} is not "
                        "{unmarked.first_offset}, the marker came: nothing to do. If it is, the marker is lost"
                    },
                    "If it has one of producer id {producer_id} after offset {unmarked.last_offset}: nothing to do. If "
                    "not, the marker is lost",
                ),
                pick("odd", {1: ""}, ". Check the other partitions in the same way"),
            ),
            "operator",
            command=pick(
                "describes_producers",
                {True: f"{TOOL} describe-producers --topic {{unmarked.topic}} --partition {{unmarked.partition}}"},
            ),
            needs="perhaps",
        ),
        remedy(
            "Check the leader's log of {partitions: and } for the missing records. If it has them and their COMMIT "
            "marker, this copy is behind: nothing to do",
            "operator",
            needs="perhaps",
            unless="unmarked",
        ),
        remedy(
            "Before you send anything again, compare the offsets that consumer groups committed for {unmarked.place} "
            "with {unmarked:offsets}. A group past {unmarked.last_offset} has read these records: it would get them "
            "twice",
            "operator",
            command="kafka-consumer-groups.sh --bootstrap-server HOST:PORT --describe --all-groups",
            needs="perhaps",
        ),
        remedy(
            pick(
                "decision",
                {
                    "COMMIT": (
                        pick("perhaps", {None: "Send"}, LOST),
                        " again only ",
                        RECORDS,
                        pick("as_decided", {0: ""}, "; the rest is committed"),
                        pick("left_out_at", {None: ""}, ". read_committed readers never got them"),
                        ". Or compensate for these records in the application",
                    )
                },
                (
                    pick("as_decided", {0: "If commitTransaction returned, do nothing for "}, "Compensate for "),
                    RECORDS,
                    pick("as_decided", {0: ": readers have them. If not, compensate for them. "}, SEEN),
                    "Do not send them again",
                ),
            ),
            "application",
        ),
        remedy(
            "Then let readers pass offset {unmarked.first_offset} of {unmarked.place}: no tool writes a COMMIT, only "
            "an abort by hand ends it. Never before the records were sent again: the abort makes their loss final",
            "operator",
        ),
        remedy(
            pick(
                "decision",
                {
                    "ABORT": "Find the cause at {decided_at}: records of __transaction_state lost behind a commit "
                    "(power cut), or a COMMIT by hand"
                },
                pick(
                    "left_out_at",
                    {
                        None: pick(
                            "perhaps",
                            {None: "Find the cause at {decided_at}: an abort by hand (kafka-transactions.sh abort)"},
                            pick(
                                "takes_records",
                                {True: f"Find the cause, after {{decided_at}}: {TAIL}"},
                                LOST_BETWEEN,
                            ),
                        )
                    },
                    "Find out why {partitions: and } had no leader at {left_out_at}",
                ),
            ),
            "operator",
        ),
        remedy(
            "Prevent it: min.insync.replicas 2 of 3 and no unclean elections for all topics of the transaction",
            "topic",
            "unclean.leader.election.enable",
            proposed="false",
            needs="perhaps",
        ),
        remedy(
            "Prevent it: keep three replicas of each partition of the transaction, so that one broker that is down "
            "leaves none without a leader",
            "topic",
            needs="left_out_at",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, HALF_WORDS),
    depth=5,
    caused_by=(("broker_unreachable", took_the_leader), ("broker_unreachable", lost_the_tail)),
)
