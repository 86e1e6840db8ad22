"""What is at an offset, for a person: the record, its batch and place, its writer, its transaction, and who sees it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from kafkatx.histories.location import BatchFacts, Location, Locations, RecordFacts, StateFacts
from kafkatx.outputs.history_words import details, sentence
from kafkatx.outputs.locate_words import uncommitted, unlisted, visible, watermark
from kafkatx.outputs.text_lines import marked, print_trimmed, shown
from kafkatx.terms.printable import printable
from kafkatx.terms.times import iso
from kafkatx.words.evidence_refs import plural

LABEL = 14
"""Columns of a line's label."""
MOST_SHOWN = 2_000
"""Characters shown of a key or value; JSON has all."""


def print_locations(console: Console, locations: Locations) -> None:
    """Print the offset as each capture has it."""
    for found in locations.found:
        head = f"{found.topic}-{found.partition} @ {found.offset}"
        head += f"  (capture {found.capture})" if len(locations.found) > 1 else ""
        print_trimmed(console, shown(head, "bold"), *_lines(found), Text(""))


def _lines(found: Location) -> Iterator[RenderableType]:
    yield _line("read_committed", visible(found), "green" if found.visibility.sees else "yellow")
    for more in filter(None, (uncommitted(found), unlisted(found), watermark(found))):
        yield _line("", more)
    if found.record is not None:
        yield from _record(found.record)
    if found.state_row is not None:
        yield from _state(found.state_row)
    if found.batch is not None:
        yield from _batch(found.batch)
        yield from _copies(found)
        if found.batch.producer_id is not None:
            yield _line("writer", _writer(found, found.batch))
    yield from _transaction(found)
    yield _line("log", f"starts at {found.log_start}, ends at {found.log_end}", "dim")
    for problem in found.problems:
        yield _line("damage", problem, "red")


def _line(label: str, text: str, style: str = "") -> RenderableType:
    return marked(f"{label:<{LABEL}}  ", text, style, indent=3, mark_style="dim")


def _record(record: RecordFacts) -> Iterator[RenderableType]:
    parts = [f"key {_size(record.key_size)}", f"value {_size(record.value_size)}", iso(record.timestamp) or "no time"]
    parts += [f"sequence {record.sequence}"] if record.sequence is not None else []
    parts += [f"{len(record.header_names)} headers"] if record.header_names else []
    yield _line("record", ", ".join(parts))
    if record.headers is not None:
        yield _line("key", _payload(record.key))
        yield _line("value", _payload(record.value))
        for name, value in record.headers:
            yield _line("header", f"{_payload(name)} = {_payload(value)}")


def _size(size: int | None) -> str:
    return "null" if size is None else f"{size:,} bytes"


def _payload(data: bytes | None) -> str:
    r"""Bytes as text where they are UTF-8, anything else as `\x..`; never what acts on a terminal."""
    if data is None:
        return "null"
    return printable(data.decode("utf-8", "backslashreplace"), MOST_SHOWN)


def _state(row: StateFacts) -> Iterator[RenderableType]:
    if row.problem is not None:
        yield _line("row", f"can't be decoded: {row.problem}", "red")
        return
    yield _line("row of", row.transactional_id or "a key of a version that no release up to 4.4 knows")
    if row.is_tombstone:
        yield _line("", "a tombstone: the coordinator forgot the id")
        return
    known = ((name, value) for name, value in row.fields.items() if value is not None)
    yield _line("", ", ".join(f"{name} {value}" for name, value in known))
    yield _line("partitions", ", ".join(row.partitions) or "none")


def _batch(batch: BatchFacts) -> Iterator[RenderableType]:
    kind = "control batch" if batch.is_control else "transactional" if batch.is_transactional else "not transactional"
    span = (
        str(batch.base_offset)
        if batch.base_offset == batch.last_offset
        else f"{batch.base_offset}..{batch.last_offset}"
    )
    records = "" if batch.record_count is None else f"{plural(batch.record_count, 'record')}, "
    yield _line("batch", f"@ {span}, {records}{kind}, magic {batch.magic}, codec {batch.codec}")
    if batch.control_type is not None:
        yield _line("", f"{batch.control_type}, coordinator epoch {_or_none(batch.coordinator_epoch)}")
    log_extent = ", delete horizon set" if batch.has_delete_horizon else ""
    times = f"{batch.timestamp_type} {iso(batch.base_timestamp) or 'none'} to {iso(batch.max_timestamp) or 'none'}"
    yield _line("", f"{times}; leader epoch {_or_none(batch.leader_epoch)}; {batch.size:,} bytes{log_extent}")


def _or_none(number: int | None) -> str:
    return "none" if number is None else str(number)


def _copies(found: Location) -> Iterator[RenderableType]:
    for number, copy in enumerate(found.copies):
        if copy.line is not None:
            yield _line("" if number else "file", f"{copy.path} line {copy.line}, as a tool printed it", "")
            continue
        crc = {True: "CRC right", False: "CRC WRONG", None: "CRC not checked (old format)"}[copy.crc_valid]
        yield _line(
            "" if number else "file", f"{copy.path}:{copy.position}, {crc}", "red" if copy.crc_valid is False else ""
        )


def _writer(found: Location, batch: BatchFacts) -> str:
    who = found.transactional_id if found.transactional_id is not None else "no row at hand names its transactional.id"
    text = f"producer id {batch.producer_id}, epoch {_or_none(batch.producer_epoch)}: {who}"
    if batch.base_sequence is not None:
        text += f"; sequences {batch.base_sequence}..{batch.last_sequence}"
    return text


def _transaction(found: Location) -> Iterator[RenderableType]:
    entry = found.transaction
    if entry is not None:
        yield _line("transaction", f"{iso(entry.at)}, instance {entry.instance}. {sentence(entry)}")
        for line in details(entry):
            yield _line("", f"- {line}", "dim")
    elif found.leftover is not None:
        yield _line("transaction", sentence(found.leftover))
