"""The five answers of docs/spark.md, worked out row by row in Python from the tables of this machine."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import kafkatx

Row = dict[str, Any]
DECIDED = {"committed": False, "committing": False, "aborted": True, "aborting": True}
LAST_EPOCH = 32766
UUID_PARTS = 5


class Fleet:
    """The tables that the questions are about, each read once."""

    def __init__(self, paths: Iterable[str | Path]) -> None:
        evidence = kafkatx.open(list(paths))
        rows = {
            name: [row for batch in evidence.table(name) for row in batch.to_pylist()]
            for name in ("batches", "markers", "transaction_states", "transactions")
        }
        self.batches: list[Row] = rows["batches"]
        self.markers: list[Row] = rows["markers"]
        self.transactions: list[Row] = rows["transactions"]
        self.states: list[Row] = [row for row in rows["transaction_states"] if not row["is_tombstone"]]
        self.ends: dict[str, datetime] = {}
        for row in (*rows["markers"], *rows["transaction_states"]):
            self.ends[row["capture"]] = max(row["timestamp"], self.ends.get(row["capture"], row["timestamp"]))

    def aborted(self) -> dict[tuple[str, datetime], tuple[int, int]]:
        """By application and hour: how many transactions were decided, and how many of them aborted."""
        found: dict[tuple[str, datetime], tuple[int, int]] = {}
        for row in self.transactions:
            if row["outcome"] in DECIDED:
                hour = row["started_at"].replace(minute=0, second=0, microsecond=0)
                key = (application(row["transactional_id"]), hour)
                decided, aborted = found.get(key, (0, 0))
                found[key] = (decided + 1, aborted + DECIDED[row["outcome"]])
        return {key: counts for key, counts in found.items() if counts[1]}

    def longest(self) -> list[tuple[str, str, str, bool, float]]:
        """Capture, id, outcome, whether it lasts still, and seconds of each transaction, longest first."""
        found = [
            (
                *(row[name] for name in ("capture", "transactional_id", "outcome")),
                row["completed_at"] is None,
                seconds(row["started_at"], row["completed_at"] or self.ends[row["capture"]]),
            )
            for row in self.transactions
            if row["outcome"] != "lost" and row["started_at"] is not None
        ]
        return sorted(found, key=lambda row: -row[-1])

    def never_fencing(self) -> dict[tuple[str, str], tuple[int, int, int]]:
        """By capture and application whose starts fence nobody: ids, lives and lives that began after all others."""
        found: dict[tuple[str, str], tuple[int, int, int]] = {}
        for (capture, name), rows in grouped(self.states, lambda row: application(row["transactional_id"])):
            lives: dict[tuple[str, int], list[datetime]] = defaultdict(list)
            for row in rows:
                lives[row["transactional_id"], row["producer_id"]].append(row["timestamp"])
            spans = sorted((min(times), max(times)) for times in lives.values())
            successors = sum(
                began > max(last for _, last in spans[:at]) for at, (began, _) in enumerate(spans) if at > 0
            )
            fences = any(row["state"] == "Empty" and row["producer_epoch"] > 0 for row in rows)
            if successors and not fences:
                found[capture, name] = (len({name for name, _ in lives}), len(lives), successors)
        return found

    def holders(self) -> dict[tuple[str, str, int, int], tuple[int, str | None, bool, float]]:
        """By partition and first offset: producer id, transactional.id, whether it holds the LSO still, for how long.

        Each partition's log is walked as a broker appends it; the earliest open transaction is asked for at each step.
        """
        found = {}
        known = {key: row for row in self.transactions for key in _places(row)}
        in_transactions = [row for row in self.batches if row["is_transactional"]]
        for (capture, place), rows in grouped(in_transactions, lambda row: (row["topic"], row["partition"])):
            for offset, producer_id, began, marker in _held(rows):
                key = ("first", offset) if marker is None else ("marker", marker["base_offset"])
                row = known.get((capture, *place, *key), {"transactional_id": None, "started_at": None})
                since = max(began, row["started_at"] or began)
                lasted = seconds(since, marker["max_timestamp"] if marker else self.ends[capture])
                if lasted > 0:
                    found[capture, *place, offset] = (producer_id, row["transactional_id"], marker is None, lasted)
        return found

    def exhaustion(self) -> dict[tuple[str, str], tuple[int, int, float]]:
        """By capture and id: epochs used, the newest epoch, days left at that pace."""
        found = {}
        for key, rows in grouped(self.states, lambda row: row["transactional_id"]):
            rows.sort(key=lambda row: row["record_offset"])
            used = 0
            for before, row in pairwise(rows):
                if row["producer_id"] == before["producer_id"]:
                    used += row["producer_epoch"] - before["producer_epoch"]
            if used:
                lasted = seconds(rows[0]["timestamp"], rows[-1]["timestamp"])
                epoch = rows[-1]["producer_epoch"]
                found[key] = (used, epoch, (LAST_EPOCH - epoch) / (used / lasted * 86400))
        return found


def application(transactional_id: str) -> str:
    """An id without the numbers and UUIDs at its end."""
    parts = transactional_id.split("-")
    while len(parts) > 1:
        if parts[-1].isdigit() and not _is_uuid(parts):
            parts.pop()
        elif _is_uuid(parts):
            del parts[-UUID_PARTS:]
        else:
            break
    return "-".join(parts)


def seconds(since: datetime, until: datetime) -> float:
    return (until - since).total_seconds()


def grouped(rows: list[Row], key: Any) -> Iterator[tuple[tuple[str, Any], list[Row]]]:
    """Rows by capture and something else."""

    def place(row: Row) -> tuple[str, Any]:
        return row["capture"], key(row)

    for found, members in groupby(sorted(rows, key=place), key=place):
        yield found, list(members)


def _places(row: Row) -> Iterator[tuple[str, str, int, str, int]]:
    """Where a transaction is known by: its marker in a partition, else its first offset there."""
    for data in row["partitions"] or ():
        marker, first = data["marker_offset"], data["first_offset"]
        key = ("marker", marker) if marker is not None else ("first", first)
        yield (row["capture"], data["topic"], data["partition"], *key)


def _held(rows: list[Row]) -> Iterator[tuple[int, int, datetime, Row | None]]:
    """First offset, producer id, since when it was the earliest open transaction, and the marker that ended that."""
    began: dict[int, tuple[int, datetime]] = {}
    holder: int | None = None
    free_since: list[datetime] = []
    for row in {row["base_offset"]: row for row in sorted(rows, key=lambda row: row["base_offset"])}.values():
        producer_id = row["producer_id"]
        if not row["is_control"]:
            began.setdefault(producer_id, (row["base_offset"], row["max_timestamp"]))
        elif producer_id in began:
            offset, time = began.pop(producer_id)
            if producer_id == holder:
                yield offset, holder, max([time, *free_since[-1:]]), row
                free_since.append(row["max_timestamp"])
        holder = min(began, key=lambda producer: began[producer][0], default=None)
    if holder is not None:
        offset, time = began[holder]
        yield offset, holder, max([time, *free_since[-1:]]), None


def _is_uuid(parts: list[str]) -> bool:
    text = "-".join(parts[-UUID_PARTS:])
    try:
        return len(parts) > UUID_PARTS and str(UUID(text)) == text
    except ValueError:
        return False
