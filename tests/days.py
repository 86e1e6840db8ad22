"""Recorded data directories as a broker would have had them day by day: cut by time, rolled, shortened by retention.

A day ends at a time: of each partition the batches up to the first that is newer are there. A segment is rolled at each
day's end, whole segments leave topics that are not compacted after some days, and checkpoints say where logs begin and
end then. Producer snapshots and indexes of offsets are left out: nothing that is needed stands in them alone.
"""

import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafkatx.formats.aborted_txn import ENTRY_SIZE
from tests import declared
from tests.cases.cutting import Image, Segment

KEPT_WHOLE = ("__transaction_state", "__consumer_offsets", "__cluster_metadata")
OFFSETS = ("replication-offset-checkpoint", "log-start-offset-checkpoint", "cleaner-offset-checkpoint")
LEFT_OUT = (*OFFSETS, "recovery-point-offset-checkpoint")


@dataclass(frozen=True, slots=True)
class Rolled:
    """A segment that was rolled at the ends of days: (day, base offset, bytes) of each piece, in order."""

    of: Segment
    pieces: tuple[tuple[int, int, bytes], ...]


class Days:
    """A case in a number of days, each with the same number of batches."""

    def __init__(self, case: Image, days: int) -> None:
        self.case, self.days = case, days
        times = sorted(batch.max_timestamp for one in case.segments for batch in declared.batches(one.data))
        self.ends = [times[len(times) * (day + 1) // days - 1] for day in range(days)]
        self.rolled = [self._rolled(one) for one in case.segments]

    def _rolled(self, segment: Segment) -> Rolled:
        found: list[list[int]] = []
        day = 0
        data = segment.data
        batches = list(declared.batches(data))
        stops = [batch.position for batch in batches[1:]] + [len(data)]
        for batch, stop in zip(batches, stops, strict=True):
            day = max(day, next((at for at, end in enumerate(self.ends) if batch.max_timestamp <= end), self.days - 1))
            if found and found[-1][0] == day:
                found[-1][3] = stop
            else:
                found.append([day, int(segment.name[:20]) if not found else batch.base_offset, batch.position, stop])
        return Rolled(segment, tuple((at, base, data[begin:end]) for at, base, begin, end in found))

    def write(self, day: int, folder: Path, retention: int | None = None) -> list[Path]:
        """Write what the brokers had at the end of a day in the place of what lies there; returns their folders."""
        shutil.rmtree(folder, ignore_errors=True)
        for broker, files in self.case.others.items():
            for name, data in files.items():
                path = Path(name)
                is_gone = path.name in LEFT_OUT or path.suffix in (".snapshot", ".txnindex")
                if not is_gone and path.name != "leader-epoch-checkpoint":
                    _put(folder / broker / path, data)
            logs = {one.of.folder: self._log(one, day, retention) for one in self.rolled if one.of.broker == broker}
            for name, pieces in logs.items():
                self._write_log(folder / broker, name, pieces)
            self._write_checkpoints(folder / broker, logs)
        return sorted(folder.iterdir())

    def _log(self, one: Rolled, day: int, retention: int | None) -> list[tuple[int, bytes]]:
        """Base offset and bytes of the segments that are there at the end of a day; the active one always is."""
        there = [piece for piece in one.pieces if piece[0] <= day]
        if retention is not None and not one.of.folder.startswith(KEPT_WHOLE):
            there = [piece for piece in there[:-1] if piece[0] > day - retention] + there[-1:]
        return [(base, data) for _, base, data in there]

    def _write_log(self, folder: Path, name: str, pieces: list[tuple[int, bytes]]) -> None:
        if not pieces:
            return
        aborted = dict(_aborted(self.case.others[folder.name], name))
        for (base, data), end in zip(pieces, [*(base for base, _ in pieces[1:]), _end(pieces)], strict=True):
            _put(folder / name / f"{base:020d}.log", data)
            entries = b"".join(entry for last, entry in aborted.items() if base <= last < end)
            if entries:
                _put(folder / name / f"{base:020d}.txnindex", entries)

    def _write_checkpoints(self, folder: Path, logs: dict[str, list[tuple[int, bytes]]]) -> None:
        known = {name: pieces for name, pieces in logs.items() if pieces}
        _put(folder / OFFSETS[0], _offsets({name: _end(pieces) for name, pieces in known.items()}))
        starts = {name: pieces[0][0] for name, pieces in known.items()}
        _put(folder / OFFSETS[1], _offsets({name: start for name, start in starts.items() if start}))
        for name, start in starts.items():
            told = self.case.others[folder.name].get(f"{name}/leader-epoch-checkpoint")
            if told is not None:
                _put(folder / name / "leader-epoch-checkpoint", _epochs(told, start, _end(known[name])))


def _aborted(files: dict[str, bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """Offset of the marker and bytes of each entry of a partition's .txnindex files."""
    for path, data in sorted(files.items()):
        if path.startswith(f"{name}/") and path.endswith(".txnindex"):
            for at in range(0, len(data), ENTRY_SIZE):
                entry = data[at : at + ENTRY_SIZE]
                yield struct.unpack(">hqqqq", entry)[3], entry


def _end(pieces: list[tuple[int, bytes]]) -> int:
    return [*declared.batches(pieces[-1][1])][-1].last_offset + 1 if pieces else 0


def _offsets(offsets: dict[str, int]) -> bytes:
    lines = [f"{name.rpartition('-')[0]} {name.rpartition('-')[2]} {offset}" for name, offset in offsets.items()]
    return "\n".join(["0", str(len(lines)), *lines, ""]).encode()


def _epochs(told: bytes, start: int, end: int) -> bytes:
    """A leader-epoch-checkpoint as it was when the log began and ended there."""
    entries = [tuple(map(int, line.split())) for line in told.decode().splitlines()[2:]]
    there = [(epoch, max(first, start)) for epoch, first in entries if first < end]
    there = [one for at, one in enumerate(there) if at + 1 == len(there) or there[at + 1][1] > one[1]]
    return "\n".join(["0", str(len(there)), *(f"{epoch} {first}" for epoch, first in there), ""]).encode()


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
