"""What the rules ask of clients' logs: whose lines they are, the producer id and epoch of the time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TypedDict, TypeVar

import numpy as np

from kafkatx.findings.finding import Subject
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.frameworks import framework_of
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.catalogue.frameworks import LIBRARIES, Framework
from kafkatx.terms.events import EventKind
from kafkatx.terms.topics import UNNAMED
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.config_context import ConfigContext, advised
from kafkatx.words.explanation import ActorWords, Bound
from kafkatx.words.log_refs import client_seen
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, NameList, TopicPartition

Value = TypeVar("Value")

FEW_LINES = 50
"""A log of fewer lines was cut out of one."""
TIMES = pick("count", {1: ""}, " {count:time}")
"""How often, where it was not once."""


def by_client(model: CaptureModel, rows: Iterable[int]) -> Iterator[tuple[ClientInstance | None, list[int]]]:
    """Group rows by the client they belong to, in the order of clients; those of nobody last."""
    owners = model.logs.owners
    groups: dict[int, list[int]] = {}
    for row in rows:
        groups.setdefault(int(owners[row]), []).append(int(row))
    nobody = groups.pop(-1, None)
    by_number = {client.number: client for client in model.logs.clients}
    for number in sorted(groups):
        yield by_number[number], groups[number]
    if nobody:
        yield None, nobody


def rows_of(logs: LogModel, client: ClientInstance, *kinds: EventKind) -> Array:
    """Row numbers of a client's events of these kinds, in order."""
    return logs.of_client(client.number, *kinds)


def runs_by_itself(model: CaptureModel, client: ClientInstance | None) -> Framework | None:
    """The framework that runs a client and answers its errors (Streams, Connect, ...), if it is no mere guess.

    A client library leaves that to its application.
    """
    if client is None:
        return None
    found = framework_of(model, client.transactional_id, client)
    is_sure = found is not None and found.name not in LIBRARIES and found.certainty > Verdict.possible
    return found if is_sure else None


def by_transaction(logs: LogModel, client: ClientInstance | None, rows: list[int]) -> Iterator[list[int]]:
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


def seen(model: CaptureModel, client: ClientInstance | None) -> Bound[ActorWords] | None:
    """A client as the P that steps speak of; nobody where it is not known."""
    return client_seen(model, client) if client is not None else None


def advised_of(model: CaptureModel, client: ClientInstance | None) -> ConfigContext:
    """Whom a remedy for a client is for."""
    return advised(model, client.transactional_id if client is not None else None, client)


def aborted_after(logs: LogModel, client: ClientInstance | None, row: int) -> list[int]:
    """Where a client first called abortTransaction after a line; nothing where it didn't."""
    begun = rows_of(logs, client, EventKind.abort_called).tolist() if client is not None else []
    return [later for later in begun if later > row][:1]


def producer_at(client: ClientInstance | None, row: int) -> tuple[int | None, int | None]:
    """Producer id and epoch that a client had when it wrote a line; (None, None) where its log doesn't say."""
    given = [one for one in client.initialisations if one.row <= row and one.producer_id >= 0] if client else []
    return (given[-1].producer_id, given[-1].producer_epoch) if given else (None, None)


class ClientColumns(TypedDict):
    """The columns of a case that whose lines they are decides."""

    transactional_id: str | None
    producer_id: int | None
    producer_epoch: int | None
    count: int
    subjects: tuple[Subject, ...]


def columns(
    logs: LogModel,
    name: ClientName,
    given: Sequence[tuple[int | None, int | None]],
    rows: Iterable[int],
    places: Sequence[tuple[str, int] | None] = (),
) -> ClientColumns:
    """Return the columns of things that happened to the clients of a name.

    `given` are producer id and epoch at each of them, `places` the partition where it has one; `rows` all lines that
    tell of them.
    """
    whereabouts = places or [None] * len(given)
    return ClientColumns(
        transactional_id=name.transactional_id,
        producer_id=only(producer for producer, _ in given),
        producer_epoch=only(epoch for _, epoch in given),
        count=len(given) + uncounted(logs, rows),
        subjects=subjects(
            [
                Subject(name.transactional_id, producer, *(place or (None, None)))
                for (producer, _), place in zip(given, whereabouts, strict=True)
            ]
        ),
    )


def is_cut_out(logs: LogModel, rows: Iterable[int]) -> bool:
    """Whether lines stand among a few that somebody took out of a log: what they show was worth showing."""
    sources = [logs.facts.sources[int(logs.events["source"][row])] for row in rows]
    return all(0 < source.lines < FEW_LINES for source in sources)


def topic_partition(logs: LogModel, row: int) -> tuple[str, int] | None:
    """Topic and partition that a line names."""
    topic, number = logs.string(row, "topic"), logs.number(row, "partition")
    return (topic, number) if topic is not None and number is not None else None


def place_of(logs: LogModel, row: int) -> TopicPartition:
    """The partition that a line is about; -1 where it does not name it."""
    topic, partition = logs.string(row, "topic"), logs.number(row, "partition")
    return TopicPartition(topic or UNNAMED, -1 if partition is None or topic is None else partition)


def partitions_named(logs: LogModel, rows: Iterable[int]) -> NameList:
    """The partitions that lines name, each once, as Kafka writes them."""
    places = (topic_partition(logs, row) for row in rows)
    return NameList(dict.fromkeys(f"{place[0]}-{place[1]}" for place in places if place is not None))


def only(values: Iterable[Value]) -> Value | None:
    """The value that all share; None where there are several, or none."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def times_of(logs: LogModel, rows: Iterable[int]) -> tuple[int | None, int | None]:
    """First and last time of rows, (None, None) where none has one."""
    times = [at for at in (logs.at(row) for row in rows) if at is not None]
    return (min(times), max(times)) if times else (None, None)


def uncounted(logs: LogModel, rows: Iterable[int]) -> int:
    """How often at least a thing happened beside these lines of it, of which a reader kept some and counted the rest.

    One time may leave lines of several kinds: the kind that was counted least often tells.
    """
    dropped: dict[EventKind, int] = {}
    for row in rows:
        dropped[logs.kind(row)] = dropped.get(logs.kind(row), 0) + max(0, int(logs.events["repeats"][row]))
    return min(dropped.values(), default=0)


def subjects(found: list[Value]) -> tuple[Value, ...]:
    """First, typical and last of several; none of one alone."""
    if len(found) < 2:
        return ()
    return tuple(found[at] for at in dict.fromkeys((0, len(found) // 2, len(found) - 1)))


def source_name(model: CaptureModel, source: int) -> str:
    """A log by its name, with its folders where another log is called the same."""
    paths = [source.path for source in model.logs.facts.sources]
    names = [PurePath(path).name for path in paths]
    return names[source] if names.count(names[source]) == 1 else paths[source]
