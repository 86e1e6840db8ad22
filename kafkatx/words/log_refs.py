"""Lines of logs as places, and phrases for clients and what went wrong with them, for all rules that read logs."""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.catalogue.loading import event_words
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import duration
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.text.events import Statement
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import ActorWords, Bound, Phrase, actor
from kafkatx.words.facts import instant, producer, thrown
from kafkatx.words.methods import method_of
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Instant, Producer, bare

ROLLBACK = "rollback"
"""What a line by which a framework begins to roll back has for a call."""
LISTED = "ApiVersions"
"""The request whose answer lists what a node knows; Java's client logs it at DEBUG."""
MOST_QUOTED = 160
"""Characters of a line's own words in the text of a place."""
FEWEST_QUOTED = 24
"""Characters of a first line that say enough without the lines below it."""
MOST_PLACES = 6
"""Lines that one step cites; of more the first ones and the last."""


def event_ref(model: CaptureModel, row: int) -> EvidenceRef:
    """The line of an event, as a place."""
    logs = model.logs
    text = event_text(logs, row)
    return EvidenceRef(None, None, None, logs.at(row), text, logs.path(row), int(logs.events["line"][row]))


def testimony_refs(path: str, said: Iterable[Statement]) -> tuple[EvidenceRef, ...]:
    """The lines of a page in which people say something, as places, with their words."""
    shown = {(one.line, one.text): one for one in said}
    return tuple(EvidenceRef(None, None, None, None, cut(one.text), path, one.line) for one in shown.values())


def event_text(logs: LogModel, row: int) -> str:
    """What an event is in our words, with at most MOST_QUOTED characters of its line's own."""
    words = event_words()[logs.kind(row)]
    if logs.kind(row) is EventKind.failure:
        return _failure(logs, row) or words.phrase
    if logs.kind(row) is EventKind.client_state and logs.string(row, "api") == ROLLBACK:
        return f"the framework rolls back, after {cut(_cause(logs, row)) or 'an exception'}"
    said = [_shown(logs, row, column) for column in words.columns]
    parts, phrase = cut(", ".join(part for part in said if part)), _phrase(logs, row) or words.phrase
    return f"{phrase}: {parts}" if parts else phrase


def _phrase(logs: LogModel, row: int) -> str:
    """What an event's words are where its columns make it another thing than its kind; empty of most events."""
    kind, request = logs.kind(row), logs.string(row, "api") or ""
    if kind is EventKind.produce_failed and request:
        return f"{request} failed for good"
    if kind is EventKind.client_state and request == LISTED:
        return "a node answered which requests it knows"
    if kind is EventKind.request_enqueued and (error := logs.string(row, "error")):
        return f"a request was answered {bare(error)} and is made again"
    return ""


def cut(text: str, most: int = MOST_QUOTED) -> str:
    """A line's own words without the lines below it, cut where they are long."""
    head, _, below = text.partition("\n")
    if below and len(head) >= FEWEST_QUOTED:
        return cut(f"{head.rstrip()} ...", most)
    return text if len(text) <= most else text[: most - 3] + "..."


def _failure(logs: LogModel, row: int) -> str:
    """An exception as logs print it, and the call that threw it: `TimeoutException: Expiring ... (send)`."""
    call = method_of(logs.string(row, "api") or "", logs.client(int(logs.owners[row])))
    return " ".join(part for part in (cut(_cause(logs, row)), f"({call})" if call else "") if part)


def event_refs(model: CaptureModel, rows: Iterable[int], most: int = MOST_PLACES) -> tuple[EvidenceRef, ...]:
    """Places of several events, in order; of more than `most` the first ones and the last."""
    chosen = list(dict.fromkeys(int(row) for row in rows))
    if len(chosen) > most:
        chosen = [*chosen[: most - 1], chosen[-1]]
    return tuple(event_ref(model, row) for row in chosen)


@dataclass(frozen=True, slots=True)
class ClientFacts:
    """A client that steps speak of as `name`: ids, library, source and the time its lines span.

    `given` is what it was given first; `later` the producer id that it was given last, where that is another one, else
    `later_epoch` the epoch that it had last.
    """

    name: str
    transactional_id: str | None
    client_id: str | None
    library: str | None
    given: Producer | None
    later: Producer | None
    later_epoch: int | None
    log: str
    since: Instant | None
    until: Instant | None

    @property
    def is_moment(self) -> bool:
        """Whether its lines are of one moment."""
        return self.since is not None and self.since == self.until


CLIENT = Phrase(
    ClientFacts,
    actor(
        "{name}",
        (
            "[transactional.id {transactional_id}, ][client.id {client_id}, ][{library}, ][{given}, ]"
            "[then {later}, ][then epoch {later_epoch}, ]log {log}",
            pick("is_moment", {True: " at {since}"}, "[ from {since} to {until}]"),
        ),
    ),
)


def client_seen(model: CaptureModel, client: ClientInstance, name: str = "P") -> Bound[ActorWords]:
    """A client as somebody that steps speak of."""
    made = [producer(one.producer_id, one.producer_epoch) for one in client.initialisations]
    given = [one for one in made if one is not None]
    is_another = bool(given) and given[-1].id != given[0].id
    return CLIENT.of(
        ClientFacts(
            name,
            client.transactional_id,
            client.client_id,
            library(client) or None,
            given[0] if given else None,
            given[-1] if is_another else None,
            given[-1].epoch if given and not is_another and given[-1].epoch != given[0].epoch else None,
            model.logs.facts.sources[client.source].path,
            instant(client.since),
            instant(client.until),
        )
    )


def library(client: ClientInstance) -> str:
    """`kafka-clients 3.9.1`, `librdkafka 2.3.0`, `aiokafka`; empty where nothing tells."""
    name = {"java": "kafka-clients", "unknown": ""}.get(client.implementation, client.implementation)
    release = ".".join(str(number) for number in client.release)
    return f"{name} {release}".strip() if name else ""


def failure_phrase(failure: Failure) -> str:
    """`commitTransaction threw ProducerFencedException`; of a wrapped one the cause is named as well."""
    return format(thrown(failure))


def failure_refs(model: CaptureModel, failure: Failure, most: int = 2) -> tuple[EvidenceRef, ...]:
    """Lines that show a failure."""
    return event_refs(model, failure.rows or (failure.row,), most)


def _shown(logs: LogModel, row: int, column: str) -> str:
    """One column of an event as a reader wants it; empty where the line has none."""
    if column in _TEXTS:
        text = logs.string(row, column)
        return f"{_TEXTS[column]}{bare(text) if column == 'error' else text}" if text else ""
    if column in ("place", "state_partition"):
        return _partition(logs, row, TRANSACTION_STATE if column == "state_partition" else logs.string(row, "topic"))
    if column == "cause":
        return _cause(logs, row)
    name = {"number_ms": "number", "attempts": "number", "sequence": "number", "sequences": "number"}.get(
        column, column
    )
    value = logs.number(row, "offset" if column == "records" else name)
    if value is None:
        return ""
    if column == "sequences":
        after = logs.number(row, "offset")
        return f"sequence {value}" + (f" then {after}" if after is not None else "")
    if column == "records":
        return format(Count(value), "record")
    if column == "other_epoch" and logs.number(row, "producer_epoch") is None:
        return f"at epoch {value}"
    return duration(value) if column == "number_ms" else _NUMBERS[column].format(value)


_TEXTS = {"detail": "", "error": "", "api": "", "transactional_id": "", "client_id": "client.id ", "group": "group "}
"""Columns of strings, with the word that stands before them."""
_NUMBERS = {
    "producer_id": "producer id {}",
    "producer_epoch": "epoch {}",
    "other_epoch": "against epoch {}",
    "node": "node {}",
    "correlation_id": "correlation id {}",
    "attempts": "{} attempts left",
    "sequence": "sequence {}",
    "offset": "at offset {}",
}


def _partition(logs: LogModel, row: int, topic: str | None) -> str:
    number = logs.number(row, "partition")
    return "" if topic is None else topic if number is None else f"{topic}-{number}"


def _cause(logs: LogModel, row: int) -> str:
    """An error as logs print it: class and message."""
    error, message = logs.string(row, "error"), logs.string(row, "detail")
    return ": ".join(part for part in (bare(error or ""), message or "") if part)
