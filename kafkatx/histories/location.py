"""What is at an offset, as `locate` found it. Data only; absent is None, times are milliseconds."""

from __future__ import annotations

from dataclasses import field

from kafkatx.evidence.coverage import Coverage
from kafkatx.histories.events import Leftover, Transaction
from kafkatx.histories.visibility import Visibility
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Copy:
    """A file that holds the batch; `crc_valid` is None where the format has none that was checked.

    `line` is that of a text that prints the batch, `position` then its first byte.
    """

    path: str
    position: int
    crc_valid: bool | None
    leader_epoch: int | None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """Every field of the header of a batch (of a message, for magic 0 and 1)."""

    base_offset: int
    last_offset: int
    record_count: int | None
    magic: int
    codec: str
    timestamp_type: str
    is_transactional: bool
    is_control: bool
    has_delete_horizon: bool
    leader_epoch: int | None
    producer_id: int | None
    producer_epoch: int | None
    base_sequence: int | None
    last_sequence: int | None
    base_timestamp: int | None
    max_timestamp: int | None
    size: int
    crc: int
    control_type: str | None
    coordinator_epoch: int | None


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """A record; sizes in bytes, None for null. `key`, `value` and `headers` are there where payloads were asked for."""

    timestamp: int | None
    sequence: int | None
    key_size: int | None
    value_size: int | None
    header_names: tuple[bytes, ...]
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[bytes, bytes | None], ...] | None = None


@dataclass(frozen=True, slots=True)
class StateFacts:
    """A decoded row of `__transaction_state`.

    `fields` are its value's, empty for a tombstone; `problem` says why it could not be decoded.
    """

    transactional_id: str | None
    is_tombstone: bool
    fields: dict[str, object]
    partitions: tuple[str, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The nearest batch beside an offset that no batch holds."""

    first_offset: int
    last_offset: int


@dataclass(frozen=True, slots=True)
class Location:
    """An offset in one capture.

    `holder` and `holder_name` say who holds the last stable offset; `unlisted_in`: .txnindex files without the abort.
    """

    capture: str
    cluster_id: str | None
    topic: str
    partition: int
    offset: int
    log_start: int
    log_end: int
    high_watermark: int | None
    copies: tuple[Copy, ...]
    batch: BatchFacts | None
    record: RecordFacts | None
    state_row: StateFacts | None
    transactional_id: str | None
    transaction: Transaction | None
    leftover: Leftover | None
    visibility: Visibility
    holder: Leftover | None
    holder_name: str | None
    before: Neighbour | None
    behind: Neighbour | None
    unlisted_in: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(slots=True)
class Locations:
    """Result of `locate`: the offset in every capture that has the partition, and what was covered."""

    topic: str
    partition: int
    offset: int
    found: list[Location] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)
