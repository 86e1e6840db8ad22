"""What the rules ask of clients' logs: whose lines they are, the producer id and epoch of the time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kafkatx.histories.frameworks import framework_of
from kafkatx.histories.logs.story import ClientInstance, LogStory
from kafkatx.histories.story import Story
from kafkatx.kernels.growing import Array
from kafkatx.rules.finding import Subject
from kafkatx.terms.catalogue.frameworks import LIBRARIES, Framework
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Who:
    """The name under which lines of clients are counted together.

    Lines that name nobody belong together where one client instance (`number`) wrote them.
    """

    transactional_id: str | None
    client_id: str | None
    number: int = -1

    @property
    def phrase(self) -> str:
        """`the producer of orders-1`."""
        if self.transactional_id is not None:
            return f"the producer of {self.transactional_id}"
        return f"the client {self.client_id}" if self.client_id is not None else "a client that its log doesn't name"


def by_client(story: Story, rows: Iterable[int]) -> Iterator[tuple[ClientInstance | None, list[int]]]:
    """Group rows by the client they belong to, in the order of clients; those of nobody last."""
    owners = story.logs.owners
    groups: dict[int, list[int]] = {}
    for row in rows:
        groups.setdefault(int(owners[row]), []).append(int(row))
    nobody = groups.pop(-1, None)
    by_number = {client.number: client for client in story.logs.clients}
    for number in sorted(groups):
        yield by_number[number], groups[number]
    if nobody:
        yield None, nobody


def who(client: ClientInstance | None) -> Who:
    """The name of a client; nobody's of None."""
    if client is None:
        return Who(None, None)
    is_named = client.transactional_id is not None or client.client_id is not None
    return Who(client.transactional_id, client.client_id, -1 if is_named else client.number)


def rows_of(logs: LogStory, client: ClientInstance, *kinds: EventKind) -> Array:
    """Row numbers of a client's events of these kinds, in order."""
    rows = logs.of_kind(*kinds)
    mine: Array = rows[logs.owners[rows] == client.number]
    return mine


def runs_by_itself(story: Story, client: ClientInstance | None) -> Framework | None:
    """The framework that runs a client and answers its errors (Streams, Connect, ...), if it is no mere guess.

    A client library leaves that to its application.
    """
    if client is None:
        return None
    found = framework_of(story, client.transactional_id, client)
    is_sure = found is not None and found.name not in LIBRARIES and found.certainty > Verdict.possible
    return found if is_sure else None


def by_transaction(logs: LogStory, client: ClientInstance | None, rows: list[int]) -> Iterator[list[int]]:
    """Split lines of a client where one transaction ends: an abort, a new epoch, or a beginning lies between two."""
    kinds = (EventKind.abort_called, EventKind.init_bump, EventKind.producer_id_set, EventKind.begin_called)
    ends = rows_of(logs, client, *kinds) if client is not None else np.zeros(0, np.int64)
    group: list[int] = []
    for row in rows:
        if group and np.searchsorted(ends, group[-1]) < np.searchsorted(ends, row):
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def producer_at(client: ClientInstance | None, row: int) -> tuple[int | None, int | None]:
    """Producer id and epoch that a client had when it wrote a line; (None, None) where its log doesn't say."""
    given = [one for one in client.initialisations if one.row <= row and one.producer_id >= 0] if client else []
    return (given[-1].producer_id, given[-1].producer_epoch) if given else (None, None)


def topic_partition(logs: LogStory, row: int) -> tuple[str, int] | None:
    """Topic and partition that a line names."""
    topic, number = logs.string(row, "topic"), logs.number(row, "partition")
    return (topic, number) if topic is not None and number is not None else None


def only(values: Iterable[Value]) -> Value | None:
    """The value that all share; None where there are several, or none."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def times_of(logs: LogStory, rows: Iterable[int]) -> tuple[int | None, int | None]:
    """First and last time of rows, (None, None) where none has one."""
    times = [at for at in (logs.at(row) for row in rows) if at is not None]
    return (min(times), max(times)) if times else (None, None)


def uncounted(logs: LogStory, rows: Iterable[int]) -> int:
    """How often at least a thing happened beside these lines of it, of which a reader kept some and counted the rest.

    One time may leave lines of several kinds: the kind that was counted least often tells.
    """
    dropped: dict[EventKind, int] = {}
    for row in rows:
        dropped[logs.kind(row)] = dropped.get(logs.kind(row), 0) + max(0, int(logs.events["repeats"][row]))
    return min(dropped.values(), default=0)


def subjects(found: list[Subject]) -> tuple[Subject, ...]:
    """First, typical and last of several; none of one alone."""
    if len(found) < 2:
        return ()
    return tuple(found[at] for at in dict.fromkeys((0, len(found) // 2, len(found) - 1)))
