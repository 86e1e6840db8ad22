"""Records of a dump as columns of the table of records: what a record's line and its contents carry."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.text.dump.events import DumpedRecord
from kafkatx.text.dump.records import log_text
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.contents import Contents


@dataclass(frozen=True, slots=True)
class TextRecord:
    """A record as a dump shows it; what the text does not carry is None.

    `key` and `value` are their bytes where they are printed as they are and as long as declared; else `printed` is the
    text: a decoder's, or one with characters in the place of bytes that were no UTF-8.
    `header_keys` are those of all headers with commas between, as printed (a key may hold a comma itself); values of
    headers are never printed.
    """

    line: int
    position: int
    offset: int
    timestamp: int
    timestamp_type: str | None
    sequence: int | None
    key_size: int | None
    value_size: int | None
    key: bytes | None
    value: bytes | None
    printed: str | None
    header_keys: str | None
    producer_id: int | None
    producer_epoch: int | None
    is_transactional: bool | None
    is_control: bool | None
    control_type: int | None
    coordinator_epoch: int | None


def record_rows(file: OpenFile, part: TextPart) -> Iterator[TextRecord]:
    """Yield the records of a log that was dumped with its records, control records too."""
    return (_text_record(event) for event in log_text(file, part).events() if isinstance(event, DumpedRecord))


def _text_record(record: DumpedRecord) -> TextRecord:
    """A record with what its batch's line says of it."""
    parsed, contents, control = record.parsed, record.contents, record.control
    sizes = [_number(record, name) for name in (("keySize", "keysize"), ("valueSize", "valuesize"))]
    key, value, printed = _shown(contents)
    control_type, coordinator_epoch = (None, -1) if control is None else control
    return TextRecord(
        line=record.line.number,
        position=record.line.position,
        offset=record.offset,
        timestamp=parsed.number("timestamp"),
        timestamp_type=parsed.get("timestampType"),
        sequence=_number(record, ("sequence",)),
        key_size=sizes[0],
        value_size=sizes[1],
        key=key,
        value=value,
        printed=printed,
        header_keys=_header_keys(record),
        producer_id=_number(record, ("producerId",)),
        producer_epoch=_number(record, ("producerEpoch",)),
        is_transactional=_flag(record, "isTransactional"),
        is_control=control is not None or _flag(record, "isControl"),
        control_type=control_type,
        coordinator_epoch=coordinator_epoch if coordinator_epoch >= 0 else None,
    )


def _shown(contents: Contents | None) -> tuple[bytes | None, bytes | None, str | None]:
    """Key and value as bytes where they are printed as they are, and the text of both where they are not."""
    if contents is None:
        return None, None, None
    return contents.key, contents.value, None if contents.is_as_written else contents.printed


def _number(record: DumpedRecord, names: tuple[str, ...]) -> int | None:
    value = next(filter(None, (_said(record, name) for name in names)), None)
    return None if value is None else int(value)


def _flag(record: DumpedRecord, name: str) -> bool | None:
    value = _said(record, name)
    return None if value is None else value == "true"


def _said(record: DumpedRecord, name: str) -> str | None:
    """A field of a record's line, or of the line above it."""
    value = record.parsed.get(name)
    return record.header.parsed.get(name) if value is None and record.header is not None else value


def _header_keys(record: DumpedRecord) -> str | None:
    if record.contents is not None:
        return record.contents.header_keys
    tail = record.parsed.tail
    return tail[:-1] if record.control is None and tail.endswith("]") else "" if record.control is not None else None
