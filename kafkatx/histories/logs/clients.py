"""Clients rebuilt from their lines: one instance a life of a client object in one source.

Grain: the lines of one client (histories/logs/line_owners.py). A new life begins where a client is made (its
configuration, "Instantiated", its release), or where it asks for its first producer id though it had one, or anew
after close(). A client that goes on in a rotated file is an instance of its own there. Where two objects of one name
live at a time (two producers with one client.id), a line that names an epoch, or the application's thread, belongs to
the life that had it, and a call inside a transaction to one that had initialised.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field, replace
from functools import lru_cache
from pathlib import PurePosixPath

import numpy as np

from kafkatx.histories.logs.client_instance import ClientInstance, Initialised
from kafkatx.histories.logs.failures import failures
from kafkatx.histories.logs.line_owners import NETWORK_THREAD, OPENING, Attributions, Client, attributions, block_row
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.catalogue.setting_names import kafka_name
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.events import Setting, Trace

GIVEN_EPOCH = regex(r"producerId=(\d+), epoch=(\d+)")
KAFKA_CLIENTS = regex(r"kafka-clients-(\d+(?:\.\d+)*)")
RELEASE = regex(r"(\d+(?:\.\d+)+)")
JAVA = "org.apache.kafka"
LIBRARIES = (
    ("aiokafka", "aiokafka"),
    ("kafkajs", ("kafkajs", "KafkaJS")),
    ("sarama", "sarama."),
    ("kafka-go", "kafka-go."),
    ("librdkafka", ("Confluent.Kafka.", "confluent_kafka.", "cimpl.")),
    ("kafka-python", ("kafka.errors.", "kafka-python")),
    ("franz-go", ("kgo", "kerr.", "franz")),
    ("platformatic-kafka", "platformatic-kafka."),
    ("java", (JAVA, "o.a.k", "java.")),
)
"""How names of classes and loggers begin in each library; the first that fits is it."""
MODULE = regex(r"kafka(?:\.[a-z_0-9]{1,40}){1,6}")
"""Loggers of kafka-python: modules; those of brokers (`kafka.server.KafkaApis`) end with a class."""
LOCAL = regex(r"_[A-Z][A-Z_]+$|.{1,250}#(?:producer|consumer)-\d{1,6}$")
"""Errors that only librdkafka has, and how it calls its clients."""
FLINK = "flink"
COUNTED = regex(r".+-\d+-\d+")
"""Shape of the ids of Flink's sink: prefix, subtask, counter."""
CLOSES = (EventKind.client_closing, EventKind.force_closed)
IN_TRANSACTION = (EventKind.abort_called, EventKind.abort_on_close, EventKind.commit_called, EventKind.begin_called)
"""Calls that throw at a producer that has not initialised (TransactionManager.State.isTransitionValid)."""
BOUNDARIES = (*OPENING, EventKind.init_called, EventKind.producer_id_set, *CLOSES)
_BOUNDARIES = frozenset(map(int, BOUNDARIES))


def clients(model: LogModel) -> LogModel:
    """Return the model with its client instances, in the order of their first lines."""
    if not len(model.events):
        return model
    given = attributions(model)
    order = np.argsort(given.owners, kind="stable")
    owners, starts = np.unique(given.owners[order], return_index=True)
    found: list[_Life] = []
    for owner, rows in zip(owners.tolist(), np.split(order, starts[1:]), strict=True):
        if owner >= 0:
            found.extend(_lives(model, given.clients[owner], rows.tolist()))
    found.sort(key=lambda life: life.rows[0])
    maker = _Maker(model, given)
    return replace(model, clients=tuple(maker.instance(number, life) for number, life in enumerate(found)))


@dataclass(slots=True)
class _Life:
    """Lines of one life, and what of its beginning and end was met."""

    client: Client
    rows: list[int] = field(default_factory=list)
    given: list[tuple[int, int]] = field(default_factory=list)
    met: set[EventKind] = field(default_factory=set)
    openings: int = 0

    @property
    def is_used(self) -> bool:
        """Whether it did more than begin."""
        return len(self.rows) > self.openings

    @property
    def is_closed(self) -> bool:
        """Whether close() was called."""
        return not self.met.isdisjoint(CLOSES)

    def ends_before(self, kind: EventKind, producer_id: int) -> bool:
        """Whether a line of this kind can't belong to it any more."""
        if kind is EventKind.client_started:
            return self.is_used or kind in self.met
        if kind is EventKind.config_values:
            return self.is_used or EventKind.client_started in self.met
        if kind is EventKind.client_release:
            return self.is_closed or (self.is_used and kind in self.met)
        return self._is_given_anew(kind, producer_id)

    def _is_given_anew(self, kind: EventKind, producer_id: int) -> bool:
        """Whether a line asks for a first producer id though it had one, or gives it one after close()."""
        is_first = kind is EventKind.init_called or (kind is EventKind.producer_id_set and producer_id < 0)
        if is_first and self.client.transactional_id >= 0:
            return bool(self.given)
        return kind is EventKind.producer_id_set and self.is_closed


def _lives(model: LogModel, client: Client, rows: list[int]) -> list[_Life]:
    e, kinds = model.events, model.kind_numbers
    found = [_Life(client)]
    for row in rows:
        if kinds[row] in _BOUNDARIES:
            kind, producer_id = EventKind(kinds[row]), int(e["producer_id"][row])
            if found[-1].rows and found[-1].ends_before(kind, producer_id):
                found.append(_Life(client))
            found[-1].met.add(kind)
            found[-1].openings += kind in OPENING
            if kind is EventKind.producer_id_set and producer_id >= 0:
                found[-1].given.append((producer_id, int(e["producer_epoch"][row])))
        found[-1].rows.append(row)
    return _given_back(model, found) if len(found) > 1 else found


def _given_back(model: LogModel, lives: list[_Life]) -> list[_Life]:
    """Move lines that an earlier life wrote after a later one had begun."""
    writers = _Writers(model, lives)
    for number, life in enumerate(lives):
        mine, life.rows = life.rows, []
        for row in mine:
            lives[writers.of(row, number)].rows.append(row)
    for life in lives:
        life.rows.sort()
    return [life for life in lives if life.rows]


class _Writers:
    """Which of a client's lives wrote a line: by the epochs that they were given and by their threads."""

    def __init__(self, model: LogModel, lives: list[_Life]) -> None:
        self.model = model
        self.threads = [_threads(model, life) for life in lives]
        self.initialised = [_initialised_at(model, life) for life in lives]
        self.closed = [life.is_closed for life in lives]
        self.users: dict[int, list[int]] = {}
        self.given: dict[int, dict[int, list[int]]] = {}
        for number, life in enumerate(lives):
            for thread in () if life.is_closed else self.threads[number]:
                self.users.setdefault(thread, []).append(number)
            for producer_id, epoch in life.given:
                self.given.setdefault(producer_id, {}).setdefault(epoch, []).append(number)

    def of(self, row: int, number: int) -> int:
        """Number of the life that wrote a line that stands in life `number`."""
        model = self.model
        if not number or model.kind(row) in BOUNDARIES:
            return number
        named = _named_epoch(model, row)
        if named is not None:
            return self._given_until(*named, number)
        if row < self.initialised[number] and model.kind(row) in IN_TRANSACTION and not self.closed[number - 1]:
            return number - 1
        thread, own = int(model.events["thread_code"][row]), self.threads[number]
        users = self.users.get(thread, ())
        at = bisect_left(users, number)
        return users[at - 1] if at and own and thread not in own else number

    def _given_until(self, producer_id: int, epoch: int, number: int) -> int:
        """The latest life up to `number` that was given the highest epoch not above this one; else `number`."""
        epochs = self.given.get(producer_id, {})
        for known in sorted((known for known in epochs if 0 <= known <= epoch), reverse=True):
            if at := bisect_right(epochs[known], number):
                return epochs[known][at - 1]
        return number


def _initialised_at(model: LogModel, life: _Life) -> int:
    """Row that gives a life whose making is told its first producer id; -1 where either is not told."""
    if EventKind.client_started not in life.met:
        return -1
    given = _of_kinds(model, life.rows, EventKind.producer_id_set)
    return next((row for row in given if model.events["producer_id"][row] >= 0), -1)


def _threads(model: LogModel, life: _Life) -> set[int]:
    """Threads of the application that made a client, initialised or closed it."""
    codes = {int(model.events["thread_code"][row]) for row in life.rows if model.kind(row) in BOUNDARIES}
    return {code for code in codes if code >= 0 and not NETWORK_THREAD.fullmatch(model.facts.strings[code])}


def _named_epoch(model: LogModel, row: int) -> tuple[int, int] | None:
    """Producer id and epoch that a line names as the client's own."""
    if model.kind(row) is EventKind.init_bump:
        return int(model.events["producer_id"][row]), int(model.events["producer_epoch"][row])
    trace = model.trace(row)
    texts = [link.message for link in trace.chain] if trace is not None else [model.string(row, "detail") or ""]
    match = next((match for text in texts if (match := GIVEN_EPOCH.search(text))), None)
    return (int(match[1]), int(match[2])) if match else None


@dataclass(slots=True)
class _Maker:
    """Makes instances of lives: who they were, what they were given, what failed, how they were configured."""

    model: LogModel
    given: Attributions
    releases: dict[int, tuple[int, ...]] = field(init=False)
    blocks: dict[int, tuple[Setting, ...]] = field(init=False)
    files: list[tuple[str, dict[str, str | None], tuple[Setting, ...]]] = field(init=False)
    last: dict[Client, tuple[Setting, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.releases = _releases_of_sources(self.model)
        self.blocks, self.files = _blocks(self.model), _files(self.model)

    def instance(self, number: int, life: _Life) -> ClientInstance:
        """Return the instance of a life."""
        model, rows, numbers = self.model, life.rows, np.array(life.rows, np.int64)
        traces = _traces(model, numbers)
        implementation = _implementation(model, self._name(life.client.client_id), numbers, traces)
        release = _release(model, rows, traces) or self.releases.get(life.client.source, ())
        initialisations = tuple(_initialisations(model, rows))
        times = model.times[numbers]
        known = times[times >= 0]
        name = self._name(life.client.transactional_id)
        return ClientInstance(
            number=number,
            source=life.client.source,
            client_id=self._name(life.client.client_id),
            transactional_id=name,
            implementation=implementation,
            release=release,
            rows=tuple(rows),
            since=int(known.min()) if len(known) else None,
            until=int(known.max()) if len(known) else None,
            has_start=bool(life.met & {EventKind.client_started, EventKind.config_values}),
            closed_at=next((model.at(row) for row in _of_kinds(model, rows, *CLOSES)), None),
            initialisations=initialisations,
            failures=tuple(failures(model, rows, implementation, release)),
            settings=self._settings(life),
            is_consumer=life.client.is_consumer,
            owns_producer_ids=not _lies(model, numbers, name, initialisations),
        )

    def _name(self, code: int) -> str | None:
        return self.given.names[code] if code >= 0 else None

    def _settings(self, life: _Life) -> tuple[Setting, ...]:
        """Its configuration block, or that of the life before; else the file of settings that names it.

        Of several files it is the one called as the log.
        """
        begun = _of_kinds(self.model, life.rows, EventKind.config_values)
        printed = next((self.blocks[row] for row in begun if row in self.blocks), self.last.get(life.client))
        if printed is not None:
            self.last[life.client] = printed
            return printed
        names = {
            "client.id": self._name(life.client.client_id),
            "transactional.id": self._name(life.client.transactional_id),
        }
        scope = "consumer" if life.client.is_consumer else "producer"
        fits = [(path, block) for path, said, block in self.files if _speaks_of(said, block, names, scope)]
        if not fits:
            return ()
        stem = PurePosixPath(self.model.facts.sources[life.client.source].path).stem
        called = [block for path, block in fits if PurePosixPath(path).stem == stem]
        chosen = called or [block for _, block in fits]
        return chosen[0] if len(chosen) == 1 else ()


def _initialisations(model: LogModel, rows: list[int]) -> Iterator[Initialised]:
    """What a client was given, each (producer id, epoch) once in a row; -1 is what it has before it asks."""
    last = (-1, -1)
    for row in _of_kinds(model, rows, EventKind.producer_id_set):
        given = int(model.events["producer_id"][row]), int(model.events["producer_epoch"][row])
        if given[0] >= 0 and given != last:
            yield Initialised(row, model.at(row), *given)
        last = given


def _lies(model: LogModel, rows: Array, name: str | None, initialisations: tuple[Initialised, ...]) -> bool:
    """Whether the context's transactional.id is that of another: Flink's sink gives one producer id after id.

    Its producers keep the name of their first id in the log's context.
    """
    if len({given.producer_id for given in initialisations}) < 2 or name is None:
        return False
    texts = _strings(model, rows, "logger", "thread", "client_id")
    return bool(COUNTED.fullmatch(name)) or any(FLINK in text.lower() for text in texts)


def _implementation(model: LogModel, client_id: str | None, rows: Array, traces: list[Trace]) -> str:
    """Whose library wrote the lines, by the names of its classes and loggers."""
    names = _strings(model, rows, "logger", "error")
    names |= {link.exception for trace in traces for link in trace.chain}
    if any(map(_is_of_librdkafka, (client_id or "", *names))):
        return "librdkafka"
    if any(trace.releases for trace in traces) or any(map(_is_of_java, _strings(model, rows, "thread"))):
        names.add(JAVA)
    return _library_of(frozenset(names))


@lru_cache(maxsize=4096)
def _is_of_librdkafka(name: str) -> bool:
    return "rdkafka" in name.lower() or LOCAL.match(name) is not None


@lru_cache(maxsize=4096)
def _is_of_java(thread: str) -> bool:
    return NETWORK_THREAD.fullmatch(thread) is not None


@lru_cache(maxsize=4096)
def _library_of(names: frozenset[str]) -> str:
    """The library whose names begin like one of these; clients of one log show the same ones."""
    found = next((library for library, begin in LIBRARIES if any(name.startswith(begin) for name in names)), None)
    return found or ("kafka-python" if any(map(MODULE.fullmatch, names)) else "unknown")


def _release(model: LogModel, rows: list[int], traces: list[Trace]) -> tuple[int, ...]:
    """Release that a line of the client names, or the jar in a stack frame."""
    said = [model.string(row, "detail") or "" for row in _of_kinds(model, rows, EventKind.client_release)]
    found = [match for text in said if (match := RELEASE.search(text))]
    jars = [jar for trace in traces for jar in trace.releases]
    found += [match for jar in jars if (match := KAFKA_CLIENTS.search(jar))]
    return _numbers(found[0][1]) if found else ()


def _of_kinds(model: LogModel, rows: list[int], *kinds: EventKind) -> list[int]:
    """Rows of these kinds."""
    wanted, known = frozenset(map(int, kinds)), model.kind_numbers
    return [row for row in rows if known[row] in wanted]


def _strings(model: LogModel, rows: Array, *columns: str) -> set[str]:
    """Strings that rows have in these columns."""
    codes = {code for column in columns for code in model.events[f"{column}_code"][rows].tolist()}
    return {model.facts.strings[code] for code in codes if code >= 0}


def _traces(model: LogModel, rows: Array) -> list[Trace]:
    """Stack traces of rows, each once."""
    codes = sorted(set(model.events["trace_code"][rows].tolist()))
    return [model.facts.traces[code] for code in codes if code >= 0]


def _releases_of_sources(model: LogModel) -> dict[int, tuple[int, ...]]:
    """The release that all lines of a source name, where they agree."""
    found = defaultdict(set)
    for row in model.of_kind(EventKind.client_release).tolist():
        if match := RELEASE.search(model.string(row, "detail") or ""):
            found[int(model.events["source"][row])].add(_numbers(match[1]))
    return {source: releases.pop() for source, releases in found.items() if len(releases) == 1}


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:4])


def _blocks(model: LogModel) -> dict[int, tuple[Setting, ...]]:
    """Settings printed in logs, by the row of the line that begins their block."""
    begins = model.of_kind(EventKind.config_values)
    found: dict[int, list[Setting]] = defaultdict(list)
    rows: dict[tuple[int, int], int] = {}
    for setting in model.facts.settings:
        group = setting.source, setting.block
        if setting.is_printed and group not in rows:
            rows[group] = block_row(model.events, begins, setting.source, setting.line)
        if rows.get(group, -1) >= 0:
            found[rows[group]].append(setting)
    return {row: tuple(settings) for row, settings in found.items()}


def _files(model: LogModel) -> list[tuple[str, dict[str, str | None], tuple[Setting, ...]]]:
    """Settings of files: path, values by Kafka's names, all of them."""
    found: dict[tuple[int, int], list[Setting]] = defaultdict(list)
    for setting in model.facts.settings:
        if not setting.is_printed:
            found[setting.source, setting.block].append(setting)
    return [
        (model.facts.sources[source].path, {kafka_name(one.name): one.value for one in settings}, tuple(settings))
        for (source, _), settings in found.items()
    ]


def _speaks_of(
    said: dict[str, str | None], block: tuple[Setting, ...], names: dict[str, str | None], scope: str
) -> bool:
    """Whether a file of settings names a client, and nothing in it speaks against."""
    pairs = [(said[key], name) for key, name in names.items() if said.get(key) and name is not None]
    fits = block[0].scope in (scope, "unknown", "librdkafka")
    return fits and bool(pairs) and all(one == other for one, other in pairs)
