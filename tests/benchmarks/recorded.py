"""Batches as a broker wrote them, stamped anew: a table of what differs goes in, the bytes of a log come out.

A template is one recorded batch with the places of the fields that are stamped; all other bytes stay as recorded, and
the CRC-32C is made last. Templates come from `fixtures/k39-healthy`: the data batches of one producer (three records or
one), a marker, and the coordinator's rows of one transactional.id.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from google_crc32c import value as crc32c

from tests.benchmarks.layouts import CONTROL, CRC_AT, CRC_FROM, HEADER, LENGTH_FROM, TRANSACTIONAL, Array
from tests.evidence import FIXTURES

BROKER = FIXTURES / "k39-healthy" / "broker-1"
TRANSACTIONAL_ID = b"orders-sink-0"
"""The id in the recorded rows; whatever is stamped instead of it has as many bytes."""
TOPIC = "orders"
DATA_FIELDS = ("base_offset", "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence")
MARKER_FIELDS = ("base_offset", "base_timestamp", "max_timestamp", "producer_id", "producer_epoch")
STATE_FIELDS = ("base_offset", "base_timestamp", "max_timestamp")
LEADER_EPOCH = "leader_epoch"
KIND_AT = 61 + 7
"""Position of a marker's kind: header, five bytes of the record's frame, the key's version."""
BATCHES_AT_ONCE = 1 << 14


@dataclass(frozen=True, slots=True)
class Template:
    """A recorded batch and the fields that are stamped into it, as a dtype over its bytes."""

    raw: bytes
    layout: np.dtype[np.void]
    records: int
    span_ms: int
    """From its first timestamp to its highest."""


@dataclass(frozen=True, slots=True)
class Templates:
    """Templates in the order of their codes: data batches, the marker; and those of the coordinator's rows."""

    data: tuple[Template, ...]
    marker: Template
    empty: Template
    with_partition: Template
    complete: Template


def templates() -> Templates:
    """The templates that the fixture holds."""
    data, markers = [], []
    for raw, header in _recorded(BROKER / "orders-0"):
        if header["producer_id"] == 0 and header["producer_epoch"] == 0 and header["attributes"] & TRANSACTIONAL:
            (markers if header["attributes"] & CONTROL else data).append((raw, header))
    rows = [(raw, header) for raw, header in _recorded(BROKER / "__transaction_state-0") if TRANSACTIONAL_ID in raw]
    empty, ongoing = rows[:2]
    complete = next(row for row in rows if len(row[0]) == len(empty[0]) and row is not empty)
    return Templates(
        data=tuple(_template(raw, header, DATA_FIELDS) for raw, header in data),
        marker=_template(*markers[0], MARKER_FIELDS, {"kind": (KIND_AT, ">i2")}),
        empty=_template(*empty, STATE_FIELDS, _row_places(empty[0])),
        with_partition=_template(
            *ongoing, STATE_FIELDS, _row_places(ongoing[0]) | {"partition": (len(ongoing[0]) - 21, ">i4")}
        ),
        complete=_template(*complete, STATE_FIELDS, _row_places(complete[0])),
    )


def stamped(made_of: tuple[Template, ...], rows: Array) -> Iterator[tuple[Array, Array]]:
    """Bytes and positions of the batches of a log, some thousand at a time.

    `rows` names in `template` the template of each batch, in `at` its highest timestamp, and has a column for each
    field that its template stamps.
    """
    for first in range(0, len(rows), BATCHES_AT_ONCE):
        yield _stamped(made_of, rows[first : first + BATCHES_AT_ONCE])


def _stamped(made_of: tuple[Template, ...], rows: Array) -> tuple[Array, Array]:
    sizes = np.array([len(template.raw) for template in made_of])[rows["template"]]
    ends = np.cumsum(sizes)
    starts = ends - sizes
    flat = np.empty(ends[-1], dtype="u1")
    for code in np.unique(rows["template"]):
        chosen = np.flatnonzero(rows["template"] == code)
        batches = _filled(made_of[code], rows[chosen])
        flat[starts[chosen][:, None] + np.arange(batches.shape[1])] = batches
    _seal(flat, starts, ends)
    return flat, starts


def _filled(template: Template, rows: Array) -> Array:
    raw = np.tile(np.frombuffer(template.raw, dtype="u1"), (len(rows), 1))
    batches = raw.view(template.layout)[:, 0]
    for name in template.layout.names or ():
        if name == "max_timestamp":
            batches[name] = rows["at"]
        elif name == "base_timestamp":
            batches[name] = rows["at"] - template.span_ms
        elif name == LEADER_EPOCH:
            batches[name] = 0
        else:
            batches[name] = rows[name]
    return raw


def _seal(flat: Array, starts: Array, ends: Array) -> None:
    raw = flat.tobytes()
    sums = [crc32c(raw[start + CRC_FROM : end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    flat[starts[:, None] + CRC_AT + np.arange(4)] = np.array(sums, dtype=">u4").view("u1").reshape(-1, 4)


def _template(
    raw: bytes, header: np.void, fields: tuple[str, ...], places: Mapping[str, tuple[int, str]] | None = None
) -> Template:
    assert HEADER.fields is not None
    at = {name: (HEADER.fields[name][1], HEADER.fields[name][0]) for name in (*fields, LEADER_EPOCH)} | (places or {})
    layout = np.dtype(
        {
            "names": list(at),
            "offsets": [place for place, _ in at.values()],
            "formats": [form for _, form in at.values()],
            "itemsize": len(raw),
        }
    )
    span_ms = int(header["max_timestamp"] - header["base_timestamp"])
    return Template(raw, layout, int(header["record_count"]), span_ms)


def _row_places(raw: bytes) -> dict[str, tuple[int, str]]:
    """Fields of a coordinator's row of value version 0, found from the id and from the end."""
    id_at = raw.index(TRANSACTIONAL_ID)
    value_at = id_at + len(TRANSACTIONAL_ID) + 1
    return {
        "transactional_id": (id_at, f"S{len(TRANSACTIONAL_ID)}"),
        "owner": (value_at + 2, ">i8"),
        "owner_epoch": (value_at + 10, ">i2"),
        "state": (value_at + 16, "i1"),
        "updated_at": (len(raw) - 17, ">i8"),
        "started_at": (len(raw) - 9, ">i8"),
    }


def _recorded(folder: Path) -> Iterator[tuple[bytes, np.void]]:
    (log,) = folder.glob("*.log")
    raw, position = log.read_bytes(), 0
    while position < len(raw):
        header = np.frombuffer(raw, HEADER, 1, position)[0]
        end = position + LENGTH_FROM + int(header["batch_length"])
        yield raw[position:end], header
        position = end
