"""What programs print when a call of a transaction has failed: the catalogue's errors as each library shows them."""

import re
from collections.abc import Iterator
from functools import cache

from kafkatx.terms.catalogue.loading import client_exceptions, error_codes, event_templates, spellings
from kafkatx.terms.events import EventKind

_VALUES = {
    "id": "orders-0", "transactionalId": "orders-0", "pid": "4711", "producerId": "4711", "epoch": "7",
    "topicPartition": "orders-3", "tp": "orders-3", "ms": "60000", "text": "the words", "n": "3",
}  # fmt: skip
_PLACEHOLDER = re.compile(r"<([\w. ]+)>")
_OF_EVENTS = (
    EventKind.to_fatal, EventKind.to_abortable, EventKind.produce_failed, EventKind.end_refused, EventKind.failure,
    EventKind.coordinator_load_failed, EventKind.log_damaged, EventKind.epochs_exhausted,
    EventKind.coordinator_inconsistent,
)  # fmt: skip


@cache
def messages() -> dict[str, str]:
    """Messages by what they are: class or constant, library, and a number where several are alike."""
    found: dict[str, str] = {}
    for name, text in (*_of_java(), *_of_libraries(), *_of_events()):
        if text not in found.values():
            found[f"{name} {sum(other.startswith(name + ' ') for other in found)}"] = text
    return found


def _of_java() -> Iterator[tuple[str, str]]:
    for entry in client_exceptions():
        if entry.client == "java":
            for name in entry.exceptions:
                for text in entry.messages or ("",):
                    yield f"java {name.rpartition('.')[2]}", f"{name}: {_filled(text)}" if text else name
    for error in error_codes():
        if error.exceptions and error.messages:
            name = f"org.apache.kafka.common.errors.{error.exceptions[-1].text.rpartition('.')[2]}"
            yield f"java {error.name}", f"{name}: {error.messages[-1].text}"


def _of_libraries() -> Iterator[tuple[str, str]]:
    for entry in spellings():
        name = f"{entry.client} {entry.name}"
        if entry.client == "librdkafka" and entry.text:
            yield name, f"{entry.text}"
            yield name, f'KafkaError{{code={entry.name},val={entry.code},str="{entry.text}"}}'
            yield name, f"Confluent.Kafka.KafkaException: {entry.text}"
        elif entry.client == "kafkajs" and entry.text:
            yield name, f"KafkaJSProtocolError: {entry.text}"
        elif entry.client in ("kafka-python", "aiokafka"):
            yield name, f"[Error {entry.code}] {entry.name.rpartition('.')[2]}"
        elif entry.text:
            yield name, entry.text


def _of_events() -> Iterator[tuple[str, str]]:
    for entry in event_templates():
        if entry.kind in _OF_EVENTS and not entry.loggers and len(entry.template) > 40:
            yield f"{entry.client} {entry.kind.name}", _filled(entry.template)


def _filled(text: str) -> str:
    """A text with values in its places."""
    return _PLACEHOLDER.sub(lambda place: _VALUES.get(place[1], "7"), text).replace("<...>", "")
