"""Two owners of one id in one text: its epoch is granted again and again, and refusals stand between the grants.

The lines may name neither client nor instance: grants of rising epochs of one producer id, and refusals of old epochs
after them, tell that each newcomer found somebody alive. Clients that start within a second of each other (workers of
one server) did so side by side: there one refusal after them tells the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kafkatx.findings.client_lines import only, times_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.distinct import distinct
from kafkatx.rules.sharing.owners import CRASH_LOOP, ONE_OWNER, SENT_AGAIN, TOO_SOON_MS, TURNS, WINDOW_MS, refusals
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, ruled_out, step
from kafkatx.words.facts import lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, Duration, Refs, facts

FEWEST = 3
"""Grants of one producer id: a first one, and two that took it over."""


@facts
class GrantFacts:
    """Grants of one producer id within `lasted`, and refusals of old epochs between and after them."""

    id: str | None
    producer_id: int
    count: Count
    refused: Count
    lasted: Duration | None
    lines: Refs
    refusals: Refs


def in_grants(model: CaptureModel) -> Iterator[Case]:
    """One case for each producer id that was granted anew and refused in turns."""
    logs = model.logs
    rows = logs.of_kind(EventKind.producer_id_set, EventKind.initialized)
    rows = rows[(logs.events["producer_id"][rows] >= 0) & (logs.events["producer_epoch"][rows] >= 0)]
    producers = distinct(logs.events["producer_id"][rows]).tolist()
    if len(producers) != 1:
        return  # refusals that name nobody belong to the one producer id of a text only
    rising = _rising(logs, rows.tolist())
    if len(rising) < FEWEST or not _is_dense(logs, rising):
        return
    refused = _refused_after(model, rising[1:])
    if len(refused) >= (1 if _start_together(logs, rising) else TURNS):
        yield _case(model, int(producers[0]), rising, refused)


def _rising(logs: LogModel, rows: list[int]) -> list[int]:
    """Grants by epoch, of each the first line."""
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(logs.number(row, "producer_epoch") or 0, row)
    return [first[epoch] for epoch in sorted(first)]


def _refused_after(model: CaptureModel, grants: list[int]) -> list[int]:
    """The first refusal of an old epoch behind each grant, before the next one."""
    fenced = refusals(model)
    turns = zip(grants, (*grants[1:], len(model.logs.events)), strict=True)
    found = (min((row for row in fenced if begin < row < end), default=None) for begin, end in turns)
    return [row for row in found if row is not None]


def _is_dense(logs: LogModel, rows: list[int]) -> bool:
    """Whether they lie within the window of living owners, as far as they have times."""
    since, until = times_of(logs, rows)
    return since is None or until is None or until - since <= WINDOW_MS


def _start_together(logs: LogModel, rows: list[int]) -> bool:
    """Whether clients were given their first epochs too soon after each other for one to have died before the next."""
    pauses = [logs.lasted(*pair) for pair in pairwise(rows)]
    soon = [pause is not None and 0 <= pause <= TOO_SOON_MS for pause in pauses]
    return all(soon) and all(_is_first(logs, row) for row in rows)


def _is_first(logs: LogModel, row: int) -> bool:
    """Whether a client had no epoch before a grant: librdkafka prints the former one, the others don't tell."""
    owner = int(logs.owners[row])
    is_told = owner >= 0 and logs.clients[owner].implementation == "librdkafka"
    return is_told and logs.number(row, "other_epoch") is None and logs.string(row, "detail") is None


def _case(model: CaptureModel, producer_id: int, rows: list[int], refused: list[int]) -> Case:
    logs = model.logs
    since, until = times_of(logs, [*rows, *refused])
    name = only(logs.named_by(rows))
    lasted = lasting(until - since) if since is not None and until is not None else None
    return Case(
        facts=GrantFacts(
            id=name,
            producer_id=producer_id,
            count=Count(len(rows)),
            refused=Count(len(refused)),
            lasted=lasted,
            lines=event_refs(model, rows, 5),
            refusals=event_refs(model, refused, 4),
        ),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=name,
        producer_id=producer_id,
        since=since,
        until=until,
        count=len(rows) - 1,
    )


GRANT_WORDS = Words(
    GrantFacts,
    title="two living owners of one transactional.id",
    summary="{count:owner} in turn got the transactional.id[ {id}] (producer {producer_id})[ within {lasted}], and "
    "former ones were refused {refused:time}. At least two living producers[ {perhaps}] share it.",
    steps=(
        step("The epoch of producer {producer_id} was granted {count:time}", cites="lines"),
        step(
            "Former owners were still at work and were refused, {refused:time}",
            "the refusals stand behind later grants",
            cites="refusals",
        ),
    ),
    considered=(
        left_open(
            CRASH_LOOP,
            "an instance that fails and starts anew takes the id again as well",
            decided_by="the hosts and process ids of the instances that logged it",
        ),
        ruled_out("transaction_timed_out", "the epoch was granted anew each time before the refusal"),
    ),
    remedies=(
        ONE_OWNER,
        SENT_AGAIN,
    ),
)
