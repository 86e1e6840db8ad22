"""What is at an offset, for a person: who sees it, then record, batch, place, writer and transaction."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from kafkatx.histories.location import BatchFacts, Location, Locations, RecordFacts, StateFacts
from kafkatx.outputs.history_text import lacking_offsets
from kafkatx.outputs.history_words import capital, details, sentence
from kafkatx.outputs.locate_words import answer, uncommitted, unlisted, watermark
from kafkatx.outputs.text_lines import coverage_lines, marked, print_trimmed, shown
from kafkatx.terms.printable import printable
from kafkatx.terms.times import iso
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.words.plurals import plural

LABEL = 14
"""Columns of a line's label."""
MOST_SHOWN = 2_000
"""Characters shown of a key or value; JSON has all."""


def print_locations(console: Console, locations: Locations, *, verbose: bool = False) -> None:
    """Print the offset as each capture has it: the answer first, then what it rests on, with `verbose` the files."""
    for found in locations.found:
        parts: list[RenderableType] = [shown(f"Capture {found.capture}", "bold")] if len(locations.found) > 1 else []
        lacks = (
            found.partition in lacking_offsets(locations.coverage, found.capture) and found.topic == TRANSACTION_STATE
        )
        parts += _not_an_offset(found) if lacks else _lines(found)
        print_trimmed(console, *parts, Text(""))
    if verbose:
        print_trimmed(console, *coverage_lines(locations.coverage, verbose=True))


def _not_an_offset(found: Location) -> Iterator[RenderableType]:
    """Of states that were printed without offsets a number says nothing but their order."""
    place = f"{found.topic}-{found.partition}:{found.offset}"
    yield shown(f"{place} is not known: the text prints states without their offsets.", "bold")
    yield from _copies(found)


def _lines(found: Location) -> Iterator[RenderableType]:
    seen = found.visibility.sees
    yield shown(f"{answer(found)}.", "bold green" if seen else "bold yellow")
    for more in filter(None, (uncommitted(found), unlisted(found), watermark(found))):
        yield marked("   ", f"{capital(more)}.")
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
    held = f"offsets {found.log_start}..{found.log_end - 1}" if found.log_end > found.log_start else "no offset"
    yield _line("log", f"{held}; the next is {found.log_end}", "dim")
    for problem in found.problems:
        yield _line("damage", problem, "red")


def _line(label: str, text: str, style: str = "") -> RenderableType:
    return marked(f"{label:<{LABEL}}  ", text, style, indent=3, mark_style="dim")


def _record(record: RecordFacts) -> Iterator[RenderableType]:
    parts = [f"key {_size(record.key_size)}", f"value {_size(record.value_size)}"]
    parts += filter(None, [iso(record.timestamp)])
    parts += [f"sequence {record.sequence}"] if record.sequence is not None else []
    parts += [plural(len(record.header_names), "header")] if record.header_names else []
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
        yield _line("record of", f"can't be decoded: {row.problem}", "red")
        return
    if row.transactional_id is None:
        yield _line("record of", "a key of a version that no release up to 4.4 knows")
    if row.is_tombstone:
        return
    known = ((name, value) for name, value in row.fields.items() if value is not None)
    yield _line("fields", ", ".join(f"{name} {value}" for name, value in known if value or name not in HIDDEN_ZERO))
    yield _line("partitions", ", ".join(row.partitions) or "none")


HIDDEN_ZERO = ("version", "unknown_tagged_fields")
"""Fields of which 0 is nothing worth reading."""


def _batch(batch: BatchFacts) -> Iterator[RenderableType]:
    kind = "control batch" if batch.is_control else "transactional" if batch.is_transactional else "not transactional"
    span = (
        str(batch.base_offset)
        if batch.base_offset == batch.last_offset
        else f"{batch.base_offset}..{batch.last_offset}"
    )
    parts = [f"@ {span}"] + ([plural(batch.record_count, "record")] if batch.record_count is not None else [])
    parts += [kind] + ([f"magic {batch.magic}"] if batch.magic >= 0 else [])
    parts += [f"codec {batch.codec}"] if batch.size >= 0 else []
    yield _line("batch", ", ".join(parts))
    if batch.control_type is not None:
        epoch = f", coordinator epoch {batch.coordinator_epoch}" if batch.coordinator_epoch is not None else ""
        yield _line("", f"marker {batch.control_type}{epoch}")
    more = "; ".join(_more(batch))
    if more:
        yield _line("", more)


def _more(batch: BatchFacts) -> Iterator[str]:
    """What else the header says; nothing of what is not there or was not printed."""
    times = list(dict.fromkeys(filter(None, (iso(batch.base_timestamp), iso(batch.max_timestamp)))))
    if times:
        yield f"{batch.timestamp_type} {' to '.join(times)}"
    if batch.leader_epoch is not None:
        yield f"leader epoch {batch.leader_epoch}"
    if batch.size >= 0:
        yield plural(batch.size, "byte")
    if batch.has_delete_horizon:
        yield "delete horizon set"


def _copies(found: Location) -> Iterator[RenderableType]:
    for number, copy in enumerate(found.copies):
        label = "" if number else "file"
        if copy.line is not None:
            yield _line(label, f"{copy.path}, line {copy.line} (printed by a tool)")
            continue
        crc = {True: ", CRC right", False: ", CRC WRONG", None: ""}[copy.crc_valid]
        style = "red" if copy.crc_valid is False else ""
        yield _line(label, f"{copy.path}, byte {copy.position:,}{crc}", style)


def _writer(found: Location, batch: BatchFacts) -> str:
    who = f"{found.transactional_id}, " if found.transactional_id is not None else ""
    text = f"{who}producer id {batch.producer_id}"
    text += f", epoch {batch.producer_epoch}" if batch.producer_epoch is not None else ""
    if batch.base_sequence is not None:
        first, last = batch.base_sequence, batch.last_sequence
        text += f"; sequence {first}" if first == last else f"; sequences {first}..{last}"
    nameless = found.transactional_id is None and batch.is_transactional
    return text + ("; no record names its transactional.id" if nameless else "")


def _transaction(found: Location) -> Iterator[RenderableType]:
    entry = found.transaction
    if entry is not None:
        began = iso(entry.at)
        text = f"{f'began {began}, ' if began else ''}instance {entry.instance}. {sentence(entry)}"
        yield _line("transaction", capital(text))
        for line in details(entry):
            yield marked(" " * (LABEL + 5) + "- ", line, "dim")
    elif found.leftover is not None:
        yield _line("transaction", sentence(found.leftover))
