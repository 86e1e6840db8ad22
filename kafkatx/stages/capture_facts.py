"""What is said of a capture as a whole, beside what its partitions and logs say."""

from __future__ import annotations

from collections.abc import Mapping

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.checkpoint_claims import named_partitions
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.item import LOG_KINDS, Kind
from kafkatx.histories.capture_model import CaptureFacts, StateLogExtent
from kafkatx.terms.topics import TRANSACTION_STATE

FIRST_TO_RAISE_EPOCH, FIRST_TO_DESCRIBE_PRODUCERS = (0, 11, 0, 2), (2, 8)
"""Releases from which on a timeout raises the epoch (KAFKA-6119), and brokers can be asked for producers (KIP-664)."""


def missing_states(capture: Capture, at_hand: Mapping[int, StateLogExtent]) -> dict[int, StateLogExtent]:
    """Where some partitions of the coordinator's log are at hand, say of the others that they are not."""
    named = named_partitions(capture, TRANSACTION_STATE) if at_hand else set()
    return {
        partition: StateLogExtent(partition, -1, -1, -1, is_torn=True, newest=-1, leader_epoch=-1)
        for partition in sorted(named - at_hand.keys())
    }


def whole_coverage(capture: Capture, coverage: list[Coverage]) -> list[Coverage]:
    """Name every file that is no log segment too."""
    found = [*coverage]
    read = {item.key for copies in capture.segments().values() for _, item in copies}
    read |= {item.key for item in capture.texts(*LOG_KINDS)}
    for directory in capture.directories:
        found += [coverage_of(capture, item, directory.broker_id) for item in directory.items if item.key not in read]
    found += [coverage_of(capture, item, None) for item in capture.others if item.key not in read]
    for entry in found:
        if entry.kind == Kind.RECORDS.value and entry.status == "noted":
            entry.status, entry.note = "read", "records as a console consumer listed them"
    return sorted(found, key=lambda entry: entry.path)


def capture_facts(capture: Capture, end: int, release: tuple[int, ...]) -> CaptureFacts:
    """Say of a capture what its rules ask of it as a whole; `end` is the end of its evidence."""
    directories = capture.directories
    modern = any(directory.cluster_id or directory.has_partition_metadata for directory in directories)
    return CaptureFacts(
        capture.name,
        capture.cluster_id,
        capture.fingerprint,
        capture.brokers,
        end,
        modern or release >= FIRST_TO_RAISE_EPOCH,
        release >= FIRST_TO_DESCRIBE_PRODUCERS or any(d.has_partition_metadata for d in directories),
        capture.known_brokers,
        release,
    )
