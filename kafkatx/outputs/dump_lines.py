"""Lines of a dump in the shapes of kafka-dump-log 4.3.1.

Shape   a header line a batch, then a line a record that begins with `|`. Keys and values stand there raw, so that a
        line can hold line ends: a reader must go by keySize and valueSize.
Source  DumpLogSegments (Kafka 4.3).
"""

from __future__ import annotations

from collections.abc import Callable

from kafkatx.formats.record_batch import MAGIC
from kafkatx.outputs.dump_columns import BatchView, RecordView
from kafkatx.outputs.dump_control import control_text
from kafkatx.outputs.dump_decoders import Content, Decoder
from kafkatx.outputs.dump_json import jackson, jackson_with_floats
from kafkatx.outputs.dump_options import DumpOptions
from kafkatx.terms.java_text import java_text
from kafkatx.terms.printable import printable

FLOAT_TYPES = ("CLIENT_QUOTA_RECORD",)


def batch_line(batch: BatchView) -> str:
    """Return the header line of a batch."""
    if batch.magic == MAGIC:
        head = (
            f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} count: {batch.record_count} "
            f"baseSequence: {batch.base_sequence} lastSequence: {batch.last_sequence} "
            f"producerId: {batch.producer_id} producerEpoch: {batch.producer_epoch} "
            f"partitionLeaderEpoch: {batch.leader_epoch} isTransactional: {java_bool(batch.is_transactional)} "
            f"isControl: {java_bool(batch.is_control)} deleteHorizonMs: {optional_long(batch.delete_horizon_ms)}"
        )
    else:
        head = f"offset: {batch.last_offset}"
    return (
        f"{head} position: {batch.position} {batch.timestamp_type}: {batch.max_timestamp} size: {batch.size} "
        f"magic: {batch.magic} compresscodec: {batch.codec} crc: {batch.crc} isvalid: {java_bool(batch.is_valid)}\n"
    )


def optional_long(value: int | None) -> str:
    """Return an OptionalLong as Java prints it."""
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def java_bool(value: bool) -> str:
    """Return a boolean as Java prints it."""
    return "true" if value else "false"


class LogLines:
    """The lines of one log file."""

    batch = staticmethod(batch_line)

    def __init__(self, options: DumpOptions, decode: Decoder) -> None:
        self.options, self.decode = options, decode
        self._shown: Callable[[str], str] = printable if options.escape else str

    def record(self, batch: BatchView, record: RecordView) -> str:
        """Return the line of a record."""
        line, prefix = "", "| "
        if not self.options.skip_record_metadata:
            line, prefix = self._metadata(batch, record), " "
        if self.options.data and not batch.is_control:
            line += self._contents(record, prefix)
        return f"{line}\n"

    def _metadata(self, batch: BatchView, record: RecordView) -> str:
        key_size = -1 if record.key is None else len(record.key)
        value_size = -1 if record.value is None else len(record.value)
        line = (
            f"| offset: {record.offset} {batch.timestamp_type}: {record.timestamp} "
            f"keySize: {key_size} valueSize: {value_size}"
        )
        if record.crc is not None:
            return f"{line} isValid: {java_bool(bool(record.is_valid))} crc: {record.crc}"
        keys = ",".join([self._shown(java_text(key)) for key, _ in record.headers]) if record.headers else ""
        line += f" sequence: {record.sequence} headerKeys: [{keys}]"
        return line + control_text(record.key, record.value) if batch.is_control else line

    def _contents(self, record: RecordView, prefix: str) -> str:
        key, value = self.decode(record.key, record.value, record.offset)
        line = ""
        if key is not None:
            line, prefix = f"{prefix}key: {self._shown(decoded_text(key))}", " "
        return line if value is None else f"{line}{prefix}payload: {self._shown(decoded_text(value))}"


def decoded_text(value: str | Content) -> str:
    """Return a decoded key or value as text."""
    if isinstance(value, str):
        return value
    if value.text is None:
        value.text = jackson_with_floats(value) if value.get("type") in FLOAT_TYPES else jackson(value)
    return value.text
