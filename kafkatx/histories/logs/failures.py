"""What went wrong at a client: lines that show one exception, told as one failure, and what it means for its release.

Grain: the lines of one client instance. One exception is logged up to three times: by the client's own state machine
("Transiting to fatal error state due to ..."), by the application, by whoever the application handed it to. Lines with
the same root class, or the same words (a wrapper of the client shows `KafkaError`, the library `_FENCED`), within a
second are one failure, unless they name different calls.
The root cause gives the failure its name (diagnosis: "read the cause, not the wrapper"); what the client says of itself
(abortable, fatal) outweighs the catalogue, and the catalogue speaks for a release only, or where all releases agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cache, lru_cache

from kafkatx.histories.logs.client_instance import Failure
from kafkatx.histories.logs.line_owners import SAME_EXCEPTION_MS
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.catalogue.entries import ClientException, plain_name, simple_name
from kafkatx.terms.catalogue.loading import client_exceptions, error_codes
from kafkatx.terms.catalogue.releases import Release
from kafkatx.terms.catalogue.templates import one_blank, parse_template
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.text.logs.calls import FENCING

FAILURES = (
    EventKind.to_abortable, EventKind.to_fatal, EventKind.failure, EventKind.fenced, EventKind.produce_failed,
    EventKind.batch_expired, EventKind.batches_failed, EventKind.await_timeout, EventKind.group_lost,
)  # fmt: skip
"""Kinds that show a failure; those without an exception of their own have it from the table below."""
_NUMBERS = frozenset(map(int, FAILURES))
IMPLIED = {
    EventKind.batch_expired: "org.apache.kafka.common.errors.TimeoutException",
    EventKind.await_timeout: "org.apache.kafka.common.errors.TimeoutException",
}
UNNAMED = "an error not named"
"""Stands for the error of a line that says which call failed and not how."""
CALLS = {
    "initTransactions": "initTransactions", "initializeTransactions": "initTransactions",
    "init_transactions": "initTransactions", "InitProducerId": "initTransactions",
    "beginTransaction": "beginTransaction", "begin_transaction": "beginTransaction",
    "commitTransaction": "commitTransaction", "beginCommit": "commitTransaction",
    "commit_transaction": "commitTransaction", "EndTxn(true)": "commitTransaction",
    "abortTransaction": "abortTransaction", "beginAbort": "abortTransaction",
    "abort_transaction": "abortTransaction", "EndTxn(false)": "abortTransaction",
    "sendOffsetsToTransaction": "sendOffsetsToTransaction", "send_offsets_to_transaction": "sendOffsetsToTransaction",
    "AddOffsetsToTxn": "sendOffsetsToTransaction", "TxnOffsetCommit": "sendOffsetsToTransaction",
    FENCING: FENCING, "doSend": "send", "send": "send", "produce": "send", "flush": "flush",
    "poll": "poll", "commitSync": "commitSync",
}  # fmt: skip
"""The client method behind a name in a trace, a message or a request."""
REPEATED = "_FATAL"
"""What librdkafka answers to every call after a fatal error."""
TO_ERROR = (EventKind.to_abortable, EventKind.to_fatal)
TO_ERROR_ALONE = (*TO_ERROR, EventKind.batches_failed)
"""Kinds that say so without an exception: Sender drops all batches of a producer in its fatal state."""
FATAL_STATE, ERROR_STATES = "-> FatalError", ("-> FatalError", "-> AbortableError")
"""How librdkafka's changes of state end that lead into an error (rd_kafka_txn_set_state)."""
CATEGORIES = ("fatal", "abortable", "retriable", "refresh", "config")
JAVA = (
    "java", "kafka-streams", "kafka-connect", "spring-kafka", "flink-connector-kafka", "pekko-connectors-kafka",
    "reactor-kafka", "smallrye", "micronaut-kafka", "beam", "spark",
)  # fmt: skip


BEGIN = "beginTransaction"
FEWEST = 4
"""Letters by which the request that a call waited for is known."""


@dataclass(slots=True)
class _Group:
    """Lines of one exception."""

    names: set[str]
    message: str
    first_at: int
    rows: list[int] = field(default_factory=list)
    call: str | None = None


def failures(model: LogModel, rows: Sequence[int], implementation: str, release: tuple[int, ...]) -> Iterator[Failure]:
    """Yield the failures that lines of one client instance show, in the order of their first lines."""
    for group in _groups(model, rows):
        yield _failure(model, group, implementation, release)


def _groups(model: LogModel, rows: Sequence[int]) -> list[_Group]:
    found: list[_Group] = []
    silent: list[int] = []
    kinds = model.kind_numbers
    for row in [int(row) for row in rows if kinds[row] in _NUMBERS]:
        exception, message = _root(model, row)
        if not (name := simple_name(exception)):
            silent += [row] if model.kind(row) in TO_ERROR_ALONE and _is_of_somebody(model, row) else []
            continue
        call, at = call_of(model, row), int(model.times[row])
        group = next((one for one in reversed(found[-8:]) if _is_same(one, name, message, at, call)), None)
        if group is not None and call is not None and _is_another_try(found[found.index(group) + 1 :], group, message):
            group = None
        if group is None and found and model.kind(row) is EventKind.to_fatal and _is_named_later(found[-1], at):
            group = found[-1]
        if group is None:
            found.append(group := _Group({name}, message, at))
        group.rows.append(row)
        group.names.add(name)
        group.call, group.message = group.call or call, group.message or message
    return found or _unnamed(model, [*silent, *_error_states(model, rows)])


def _unnamed(model: LogModel, rows: list[int]) -> list[_Group]:
    """The failure of a client that only says that it went into an error state, in lines that somebody took out."""
    return [_Group({UNNAMED}, "", int(model.times[rows[0]]), sorted(rows))] if rows else []


def _is_of_somebody(model: LogModel, row: int) -> bool:
    """Whether a line says when, or who: what people quote from a manual says neither."""
    return model.times[row] >= 0 or bool(model.string(row, "client_id") or model.string(row, "transactional_id"))


def _error_states(model: LogModel, rows: Sequence[int]) -> list[int]:
    """Lines by which librdkafka's state of the transaction became an error: the first of each kind."""
    kinds, first = model.kind_numbers, dict[str, int]()
    for row in rows:
        if kinds[row] == EventKind.client_state:
            first.setdefault(model.string(row, "detail") or "", int(row))
    ends = [row for detail, row in first.items() if detail.endswith(ERROR_STATES)]
    return [row for row in ends if _is_of_somebody(model, row)]


def _is_same(group: _Group, name: str, message: str, at: int, call: str | None) -> bool:
    alike = name in group.names or (bool(message) and message == group.message)
    return alike and _is_soon(group, at) and (group.call is None or call is None or group.call == call)


def _is_another_try(later: list[_Group], group: _Group, message: str) -> bool:
    """Whether a call failed once more: another transaction was to be begun since, and the error says something else."""
    return bool(message) and message != group.message and any(one.call == BEGIN for one in later)


def _is_named_later(group: _Group, at: int) -> bool:
    """Whether an application's line came before the library's own, which says what the fatal error was."""
    return group.names == {REPEATED} and _is_soon(group, at)


def _is_soon(group: _Group, at: int) -> bool:
    return group.first_at < 0 or at < 0 or abs(at - group.first_at) <= SAME_EXCEPTION_MS


def call_of(model: LogModel, row: int) -> str | None:
    """The client method that threw: from the trace's frames (the outermost one that is a method), else the line."""
    trace = model.trace(row)
    names = [*reversed(trace.calls if trace is not None else ()), model.string(row, "api") or ""]
    known = (CALLS.get(name.rpartition(".")[2]) for name in names)
    waits = model.kind(row) is EventKind.await_timeout
    return next((call for call in known if call is not None), _cut(names[-1]) if waits else None)


def _cut(name: str) -> str | None:
    """The call of a request whose name is cut off, where that leaves one."""
    found = {call for known, call in CALLS.items() if known.startswith(name)} if len(name) >= FEWEST else set()
    return found.pop() if len(found) == 1 else None


def _root(model: LogModel, row: int) -> tuple[str, str]:
    """Class and message of the root cause that a line shows; of an error code the exception that stands for it."""
    trace = model.trace(row)
    if trace is not None and trace.root.exception:
        return trace.root.exception, trace.root.message
    error = model.string(row, "error") or IMPLIED.get(model.kind(row), UNNAMED if model.string(row, "api") else "")
    return _exceptions_of_codes().get(error, error), model.string(row, "detail") or ""


@cache
def _exceptions_of_codes() -> dict[str, str]:
    """Newest exception class of each error code's name, in full."""
    return {
        error.name: f"org.apache.kafka.common.errors.{error.exceptions[-1].text.rpartition('.')[2]}"
        for error in error_codes()
        if error.exceptions
    }


def _failure(model: LogModel, group: _Group, implementation: str, release: tuple[int, ...]) -> Failure:
    first, roots = group.rows[0], [_root(model, row) for row in group.rows]
    roots = [(UNNAMED, "")] if group.names == {UNNAMED} and not group.call else roots
    roots.sort(key=lambda root: simple_name(root[0]) == REPEATED)
    message = next((text for _, text in roots if text), "")
    meaning = [category_of(implementation, release, name, message) for name, _ in roots]
    best = next((at for at, category in enumerate(meaning) if category != "unknown"), 0)
    traces = [trace for row in group.rows if (trace := model.trace(row)) is not None]
    outer = next((trace.chain[0].exception for trace in traces if len(trace.chain) > 1), roots[0][0])
    return Failure(
        row=first,
        at=model.at(first),
        level=max(int(model.events["level"][row]) for row in group.rows),
        exception=_in_full(roots, simple_name(roots[best][0])),
        message=message,
        outer=outer,
        call=group.call,
        category=_own_words(model, group.rows) or meaning[best],
        rows=tuple(group.rows),
    )


def _in_full(roots: list[tuple[str, str]], name: str) -> str:
    """A class as the line with its package prints it."""
    mine = [known for known, _ in roots if simple_name(known) == name]
    return next((known for known in mine if "." in known), mine[0])


def _own_words(model: LogModel, rows: list[int]) -> str | None:
    """What the client says of itself."""
    kinds = {model.kind(row) for row in rows}
    ends = [model.string(row, "detail") or "" for row in rows if model.kind(row) is EventKind.client_state]
    is_dropped = EventKind.batches_failed in kinds and not any(model.string(row, "error") for row in rows)
    if is_dropped or EventKind.to_fatal in kinds or any(end.endswith(FATAL_STATE) for end in ends):
        return "fatal"
    return "abortable" if EventKind.to_abortable in kinds or ends else None


@lru_cache(maxsize=4096)
def category_of(implementation: str, release: tuple[int, ...], exception: str, message: str) -> str:
    """What an exception means for a client of a release: fatal, abortable, retriable, refresh, config or unknown.

    Rows of the catalogue whose text is the message's outweigh those of the class alone. Without a release all releases
    must agree.
    """
    found = {_plain(entry.category) for entry in meanings_of(implementation, release, exception, message)}
    return found.pop() if len(found) == 1 else "unknown"


@lru_cache(maxsize=4096)
def meanings_of(
    implementation: str, release: tuple[int, ...], exception: str, message: str
) -> tuple[ClientException, ...]:
    """Rows of the catalogue for an exception that a client of a release shows; () release: of any."""
    entries = [entry for entry in _of_class(implementation, simple_name(exception)) if not entry.condition]
    entries = (
        [entry for entry in entries if is_text_of(entry, message)]
        or [entry for entry in entries if _is_begun_by(entry, message)]
        or entries
    )
    version = Release(release) if release else None
    return tuple(entry for entry in entries if entry.span.holds(version))


@cache
def _of_class(implementation: str, name: str) -> tuple[ClientException, ...]:
    clients = JAVA if implementation in ("java", "unknown") else (implementation,)
    return tuple(
        entry for entry in client_exceptions() if entry.client in clients and name in map(plain_name, entry.exceptions)
    )


def is_text_of(entry: ClientException, message: str) -> bool:
    """Whether a message is one of those that a row of the catalogue has."""
    return bool(message) and any(
        parse_template(text).values(one_blank(message).strip().rstrip(".")) is not None for text in entry.messages
    )


def is_meant_by(entry: ClientException, message: str) -> bool:
    """Whether a message is one that a row has, whole or cut off at its end."""
    return is_text_of(entry, message) or _is_begun_by(entry, message)


def _is_begun_by(entry: ClientException, message: str) -> bool:
    words = one_blank(message).strip().rstrip(".\u2026")
    return any(parse_template(text).is_begun_by(words) for text in entry.messages)


def _plain(category: str) -> str:
    """The word of the catalogue where it is one, unknown where it hedges ("retriable then abortable")."""
    words = [word for word in CATEGORIES if word in category]
    return words[0] if len(words) == 1 else "unknown"
