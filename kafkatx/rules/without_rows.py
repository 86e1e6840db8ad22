"""Aborted data of which the coordinator has no row: one finding a producer id, of the rule that owns the abort."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.growing import Array
from kafkatx.histories.story import Story
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.rules.finding import Finding, NotCheckable, Subject
from kafkatx.rules.grouping import MOST_NAMED
from kafkatx.rules.in_logs.ended import hands_ids_on
from kafkatx.rules.in_logs.expired import not_expired
from kafkatx.rules.in_logs.witnessed import name_by, steps_of
from kafkatx.terms.clocks import TRANSACTION_TIMEOUT_MS
from kafkatx.terms.times import duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, Step
from kafkatx.words.places import (
    data_phrase,
    data_place,
    latest_row,
    marker_place,
    partition_name,
    plural,
    time_or_none,
)

ABOUT_TIMES = f"the client's own time and its default timeout ({duration(TRANSACTION_TIMEOUT_MS)}) are all there is"


def findings_without_rows(story: Story, rule: str, ended_by: EndedBy) -> Iterator[Finding]:
    """One finding of `rule` for each producer id whose data were ended so, and one for each that an operator ended."""
    ends = story.ends
    for by_operator in (False, True):
        chosen = ends.ended(ended_by, ToldBy.data)
        chosen = chosen[ends.by_operator[chosen] == by_operator]
        producers = story.spans["producer_id"][ends.spans[chosen - ends.row_count]]
        ordered = chosen[np.argsort(producers, kind="stable")]
        for rows in np.split(ordered, np.flatnonzero(np.diff(np.sort(producers))) + 1):
            if len(rows):
                yield _finding(story, rule, rows)


def authors_not_checkable(story: Story, rule: str) -> Iterator[NotCheckable]:
    """One entry for all aborted data whose author the evidence does not tell."""
    ends = story.ends
    unknown = story.spans[ends.spans[ends.ended(EndedBy.unknown, ToldBy.data) - ends.row_count]]
    if not len(unknown):
        return
    producers = [str(number) for number in np.unique(unknown["producer_id"]).tolist()]
    more = f" and {len(producers) - 3} more" if len(producers) > 3 else ""
    where = partition_name(story, int(unknown["partition_code"][0]))
    what = f"{plural(len(unknown), 'aborted transaction')} in {where}" + (" and elsewhere" if _spread(unknown) else "")
    scope = f"{what} of producer id {', '.join(producers[:3])}{more}"
    yield NotCheckable(rule, scope, "the coordinator's rows of that time: who aborted them")


def _spread(spans: Array) -> bool:
    return len(np.unique(spans["partition_code"])) > 1


def _finding(story: Story, rule: str, rows: Array) -> Finding:
    endings = story.ends
    spans = story.spans[endings.spans[rows - endings.row_count]]
    ended_by, by_operator = EndedBy(int(endings.ended_by[rows[0]])), bool(endings.by_operator[rows[0]])
    seen = endings.witnesses.rows_of(int(rows[0]))
    name = _name(story, spans[0]) if by_operator else name_by(story, seen)
    place = _place(story, spans)
    return Finding(
        rule=rule,
        verdict=Verdict(int(endings.verdict[rows].min())),
        severity=_severity(story, ended_by, name, seen),
        summary=_summary(story, spans, ended_by, name if by_operator else None, int(endings.duration_ms[rows[0]])),
        transactional_id=name,
        producer_id=int(spans["producer_id"][0]),
        producer_epoch=int(spans["producer_epoch"][0]) if len(np.unique(spans["producer_epoch"])) == 1 else None,
        topic=place.topic,
        partition=place.partition,
        first_offset=place.first_offset,
        last_offset=place.last_offset,
        since=time_or_none(int(spans["first_timestamp"].min())),
        until=time_or_none(int(spans["marker_timestamp"].max())),
        count=len(spans),
        subjects=tuple(_place(story, spans[[at]]) for at in dict.fromkeys((0, len(spans) // 2, len(spans) - 1)))
        if len(spans) > 1
        else (),
        steps=(
            *_steps(story, spans[0], ended_by, by_operator, int(endings.duration_ms[rows[0]])),
            *steps_of(story, seen),
        ),
        considered=(*_considered(ended_by, by_operator, seen), *_not_expired(story, spans[0], ended_by)),
    )


def _severity(story: Story, ended_by: EndedBy, name: str | None, seen: dict[str, int]) -> Severity:
    """Work of a living instance that was thrown out is an error, unless its framework hands ids on by design."""
    if ended_by is EndedBy.new_instance and "refusal" in seen and not (name and hands_ids_on(story, name)):
        return Severity.error
    return Severity.warning if ended_by is EndedBy.timeout else Severity.info


def _not_expired(story: Story, span: Array, ended_by: EndedBy) -> tuple[Considered, ...]:
    """An abort after idle days is not an expiry while the producer id goes on: an expired id gets a new one."""
    mine = story.spans[story.spans["producer_id"] == span["producer_id"]]
    before = mine[(mine["last_timestamp"] >= 0) & (mine["last_timestamp"] < span["first_timestamp"])]
    if ended_by is not EndedBy.client or not len(before):
        return ()
    last = before[np.argmax(before["last_timestamp"])]
    return not_expired(int(span["first_timestamp"] - last["last_timestamp"]), (data_place(story, last),))


def _name(story: Story, span: Array) -> str:
    return story.transactional_id(story.owner_of_producer(int(span["producer_id"])))


def _place(story: Story, spans: Array) -> Subject:
    if _spread(spans):
        return Subject(None, int(spans["producer_id"][0]))
    topic, partition = story.topic_partition(int(spans["partition_code"][0]))
    first, last = int(spans["first_offset"].min()), int(spans["last_offset"].max())
    return Subject(None, int(spans["producer_id"][0]), topic, partition, first, last)


def _summary(story: Story, spans: Array, ended_by: EndedBy, name: str | None, took: int) -> str:
    data = data_phrase(story, list(spans[:MOST_NAMED]))
    if name is not None:
        return f"an operator aborted {data} by hand: the coordinator has no transaction of {name} there"
    what = f"{plural(len(spans), 'piece')} of data of producer id {int(spans['producer_id'][0])} ({data})"
    were = f"{what} {'was' if len(spans) == 1 else 'were'} aborted"
    if ended_by is EndedBy.client:
        return f"{were} by its own client"
    if ended_by is EndedBy.timeout:
        return f"{were} by the coordinator {duration(took)} after the first record: a timeout"
    when = f"{duration(took)} after the first record" if took >= 0 else "by the coordinator"
    return f"{were} {when}: a new instance took its transactional.id over"


def _steps(story: Story, span: Array, ended_by: EndedBy, by_operator: bool, took: int) -> tuple[Step, ...]:
    wrote = Step("the producer wrote in a transaction", "transactional batches", (data_place(story, span),))
    marker = (marker_place(story, span),)
    if by_operator:
        latest = story.latest_of(story.owner_of_producer(int(span["producer_id"])))
        row = (latest_row(latest),) if latest is not None else ()
        known = Step("for the coordinator the id's last transaction was over before", "its latest row is older", row)
        return (known, wrote, Step("an ABORT at the data's own epoch ended them", "no row asked for it", marker))
    if ended_by is EndedBy.client:
        why = "the epoch stayed: only the client's own EndTxn (or an operator's abort) leaves it"
        return (wrote, Step("an ABORT at the data's own epoch ended them", why, marker))
    why = (
        "the epoch was raised: the coordinator did it, since the protocol is classic (COMMIT "
        "markers have the data's epoch)"
    )
    when = f"{duration(took)} later an" if took >= 0 else "an"
    return (wrote, Step(f"{when} ABORT under the next epoch ended them", why, marker), *_came(story, span, took))


def _came(story: Story, span: Array, took: int) -> tuple[Step, ...]:
    """Without times, what shows that somebody initialised: data two epochs on."""
    mine = story.spans[(story.spans["producer_id"] == span["producer_id"]) & (story.spans["records"] > 0)]
    later = mine[mine["producer_epoch"] >= span["producer_epoch"] + 2]
    if took >= 0 or not len(later):
        return ()
    text = f"later data have epoch {int(later['producer_epoch'][0])}: epoch {int(span['producer_epoch'])} is fenced"
    why = "two epochs on means that somebody initialised the id; whether a timeout came first is not in the text"
    return (Step(text, why, (data_place(story, later[0]),)),)


def _considered(ended_by: EndedBy, by_operator: bool, seen: dict[str, int]) -> tuple[Considered, ...]:
    if "rollback" in seen:
        return (Considered("fenced_by_new_instance", "the coordinator's own line says that it was the timeout"),)
    if by_operator:
        return (
            Considered("rows that are missing", "not refuted for certain: a later row of the id would be its latest"),
        )
    if ended_by is EndedBy.client:
        raised = "the coordinator's own abort raises the epoch"
        return (Considered("transaction_timed_out", raised), Considered("fenced_by_new_instance", raised))
    other = "fenced_by_new_instance" if ended_by is EndedBy.timeout else "transaction_timed_out"
    own = Considered("aborted_by_client", "a client's own abort keeps the epoch under the classic protocol")
    return (Considered(other, f"not refuted: {ABOUT_TIMES}"), own)
