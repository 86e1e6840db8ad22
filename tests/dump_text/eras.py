"""Lines of older releases of kafka-dump-log, made of what we read: every field that a release printed is one of ours.

The release of the tool decides. Shapes: a line a record that says all (to 2.1), header and record lines (2.2), a record
line that repeats its batch (2.8), `keySize` and lower case codecs (3.0), deleteHorizonMs (3.2), JSON (4.1).
"""

import re
from typing import Any

from kafkatx.formats.control_record import ControlType, coordinator_epoch_of, type_of
from kafkatx.outputs.dump_columns import BatchView, RecordView
from kafkatx.outputs.dump_decoders import coordinator_decoder
from kafkatx.terms.transaction_states import state_name

Version = tuple[int, ...]
NO_ORDER = re.compile(r"partitions=(?:Hash)?(?:Set)?[(\[]([^)\]]*)[)\]]")


def java(value: bool) -> str:
    return str(value).lower()


def optional(version: Version, value: int | None) -> str:
    if version >= (3, 5):
        return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"
    return "None" if value is None else f"Some({value})"


def unordered(line: str) -> str:
    """A line whose partitions stand in a fixed order: the tools print sets."""
    return NO_ORDER.sub(lambda found: f"partitions={sorted(re.split(', ?', found[1]))}", line)


def batch_line(version: Version, batch: BatchView) -> str:
    codec = batch.codec if version >= (3,) else batch.codec.upper()
    valid, horizon = f" isvalid: {java(batch.is_valid)}", ""
    if version >= (3, 2):
        horizon = f" deleteHorizonMs: {optional((4,), batch.delete_horizon_ms)}"
    if batch.magic < 2:
        head = f"offset: {batch.last_offset}"
    else:
        head = (
            f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset}"
            + (f" count: {batch.record_count}" if version >= (2,) else "")
            + f" baseSequence: {batch.base_sequence} lastSequence: {batch.last_sequence}"
            f" producerId: {batch.producer_id} producerEpoch: {batch.producer_epoch}"
            f" partitionLeaderEpoch: {batch.leader_epoch} isTransactional: {java(batch.is_transactional)}"
            + (f" isControl: {java(batch.is_control)}" if version >= (2,) else "")
            + horizon
        )
    early, late = (valid, "") if version < (2, 2) else ("", valid)
    return (
        f"{head} position: {batch.position} {batch.timestamp_type}: {batch.max_timestamp}{early} size: {batch.size}"
        f" magic: {batch.magic} compresscodec: {codec} crc: {batch.crc}{late}\n"
    )


def record_head(version: Version, batch: BatchView, record: RecordView) -> str:
    key_size = -1 if record.key is None else len(record.key)
    value_size = -1 if record.value is None else len(record.value)
    header_keys = ",".join(key.decode(errors="replace") for key, _ in record.headers)
    time = f"{batch.timestamp_type}: {record.timestamp}"
    if version >= (3,):
        return (
            f"| offset: {record.offset} {time} keySize: {key_size} valueSize: {value_size}"
            f" sequence: {record.sequence} headerKeys: [{header_keys}]"
        )
    if version >= (2, 8):
        return (
            f"| offset: {record.offset} isValid: {java(batch.is_valid)} crc: null keySize: {key_size}"
            f" valueSize: {value_size} {time} baseOffset: {batch.base_offset} lastOffset: {batch.last_offset}"
            f" baseSequence: {batch.base_sequence} lastSequence: {batch.last_sequence}"
            f" producerEpoch: {batch.producer_epoch} partitionLeaderEpoch: {batch.leader_epoch}"
            f" batchSize: {batch.size} magic: 2 compressType: {batch.codec.upper()} position: {batch.position}"
            f" sequence: {record.sequence} headerKeys: [{header_keys}]"
        )
    if version >= (2, 2):
        return (
            f"| offset: {record.offset} {time} keysize: {key_size} valuesize: {value_size}"
            f" sequence: {record.sequence} headerKeys: [{header_keys}]"
        )
    head = (
        f"offset: {record.offset} position: {batch.position} {time} isvalid: {java(batch.is_valid)}"
        f" keysize: {key_size} valuesize: {value_size} magic: {batch.magic} compresscodec: {batch.codec.upper()}"
    )
    if record.crc is not None:
        return f"{head} crc: {record.crc}"
    epoch = f" producerEpoch: {batch.producer_epoch}" if version >= (0, 11, 0, 2) else ""
    return (
        f"{head} producerId: {batch.producer_id}{epoch} sequence: {record.sequence}"
        f" isTransactional: {java(batch.is_transactional)} headerKeys: [{header_keys}]"
    )


def control_part(record: RecordView) -> str:
    control_type, epoch = type_of(record.key), coordinator_epoch_of(record.value)
    assert control_type in (0, 1)
    return f" endTxnMarker: {ControlType(control_type).name} coordinatorEpoch: {epoch}"


def transaction_key(version: Version, data: dict[str, Any]) -> str:
    prefix = "transaction_metadata::" if version >= (2, 4, 1) else ""
    return f"{prefix}transactionalId={data['transactionalId']}"


def transaction_value(data: dict[str, Any]) -> str:
    partitions = [
        f"{topic['topic']}-{number}"
        for topic in data["transactionPartitions"] or ()
        for number in topic["partitionIds"]
    ]
    return (
        f"producerId:{data['producerId']},producerEpoch:{data['producerEpoch']},"
        f"state={state_name(data['transactionStatus'])},partitions=[{','.join(partitions)}],"
        f"txnLastUpdateTimestamp={data['transactionLastUpdateTimestampMs']},txnTimeoutMs={data['transactionTimeoutMs']}"
    )


class EraLines:
    """Lines of one log file as a release before 4.1 printed them, of data and of `__transaction_state`."""

    def __init__(self, version: Version, is_transaction_log: bool, is_deep: bool = True) -> None:
        self.version, self.is_transaction_log = version, is_transaction_log
        self.shows_batches = version >= (2, 2) or not is_deep
        self.decode = coordinator_decoder("transaction_coordinator")

    def batch(self, batch: BatchView) -> str:
        return batch_line(self.version, batch) if self.shows_batches else ""

    def record(self, batch: BatchView, record: RecordView) -> str:
        return f"{record_head(self.version, batch, record)}{self.contents(batch, record)}\n"

    def contents(self, batch: BatchView, record: RecordView) -> str:
        if batch.is_control:
            return control_part(record)
        if record.value is None and self.version < (2, 4, 1):
            return ""
        key = None if record.key is None else record.key.decode(errors="replace")
        value = None if record.value is None else record.value.decode(errors="replace")
        if self.is_transaction_log:
            found_key, found_value = self.decode(record.key, record.value, record.offset)
            key = transaction_key(self.version, found_key["data"])
            value = found_value if isinstance(found_value, str) else transaction_value(found_value["data"])
        return (f" key: {key}" if key is not None else "") + (f" payload: {value}" if value is not None else "")


def producer_line(version: Version, fields: dict[str, Any]) -> str:
    """A line of a .snapshot."""
    numbers = {name: -1 if value is None else value for name, value in fields.items()}
    open_since = optional(version, fields["open_since_offset"])
    batch = f"lastOffset: {numbers['last_offset']} offsetDelta: {numbers['last_sequence'] - numbers['first_sequence']}"
    head = f"producerId: {numbers['producer_id']} producerEpoch: {numbers['producer_epoch']}"
    if version < (1,):
        return (
            f"{head} lastSequence: {numbers['last_sequence']} {batch} lastTimestamp: {numbers['timestamp_ms']}"
            f" coordinatorEpoch: {numbers['coordinator_epoch']} currentTxnFirstOffset: {open_since}\n"
        )
    line = f"{head} coordinatorEpoch: {numbers['coordinator_epoch']} currentTxnFirstOffset: {open_since}"
    if version >= (3, 1):
        line += f" lastTimestamp: {numbers['timestamp_ms']}"
    if fields["last_offset"] is not None:
        sequences = f"firstSequence: {numbers['first_sequence']} lastSequence: {numbers['last_sequence']}"
        return f"{line} {sequences} {batch} timestamp: {numbers['timestamp_ms']}\n"
    return f"{line}{' ' if version < (4, 3) else ''}\n"
