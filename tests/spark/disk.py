"""The log of a partition in a folder, written, rolled, truncated, cleaned and deleted as a broker does."""

import random
from dataclasses import dataclass, field
from pathlib import Path

from tests.building import batch, segment


@dataclass
class Disk:
    """The log of a partition as a broker writes it to a folder."""

    folder: Path
    chance: random.Random
    end: int = 0
    epoch: int = 0
    half: bytes = b""
    made: int = 0
    stable: int = 0
    begun: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        segment(self.folder, b"")

    def note(self) -> None:
        """Write down where each epoch began."""
        lines = ["0", f"{len(self.begun)}", *(f"{epoch} {start}" for epoch, start in self.begun.items())]
        (self.folder / "leader-epoch-checkpoint").write_text("\n".join([*lines, ""]))

    @property
    def segments(self) -> list[Path]:
        return sorted(self.folder.glob("*.log"))

    def whole(self, path: Path) -> list[tuple[int, bytes]]:
        """Offsets and bytes of the batches of a segment."""
        data, found = path.read_bytes(), list[tuple[int, bytes]]()
        while len(data) > 61 and len(data) >= (size := 12 + int.from_bytes(data[8:12], "big")):
            found.append((int.from_bytes(data[:8], "big"), data[:size]))
            data = data[size:]
        return found

    def made_batch(self) -> bytes:
        self.made += 1
        if self.epoch not in self.begun:
            self.begun[self.epoch] = self.end
            self.note()
        value, count = f"{self.made}".encode() * self.chance.randrange(1, 30), self.chance.randrange(1, 4)
        made = batch(self.end, *[value] * count, partition_leader_epoch=self.epoch)
        self.end += count
        return made

    def append(self) -> None:
        """Write batches, the last one by halves sometimes."""
        written, self.half = self.half, b""
        for _ in range(self.chance.randrange(1, 5)):
            written += self.made_batch()
        if self.chance.random() < 0.5:
            last = self.made_batch()
            cut = self.chance.randrange(1, len(last))
            written, self.half = written + last[:cut], last[cut:]
        with self.segments[-1].open("ab") as file:
            file.write(written)

    def finish(self) -> None:
        with self.segments[-1].open("ab") as file:
            file.write(self.half)
        self.half = b""

    def roll(self) -> None:
        self.finish()
        path = self.folder / f"{self.end:020d}.log"
        if not path.exists():
            path.write_bytes(b"")

    def fail_over(self) -> None:
        """Truncate as a follower does, and go on under a later leader; what all replicas have stays.

        So does what was cleaned or deleted, and what lies before it: neither happens above the high watermark.
        """
        self.half = b""
        kept = [(path, self.whole(path)) for path in self.segments]
        for _ in range(self.chance.randrange(6)):
            while not kept[-1][1] and len(kept) > 1 and int(kept[-1][0].stem) > self.stable:
                kept.pop()[0].unlink()
            if kept[-1][1] and kept[-1][1][-1][0] >= self.stable:
                kept[-1][1].pop()
        path, rest = kept[-1]
        path.write_bytes(b"".join(data for _, data in rest))
        last = next((data for _, found in reversed(kept) for _, data in reversed(found)), None)
        after = int.from_bytes(last[:8], "big") + int.from_bytes(last[23:27], "big") + 1 if last else 0
        self.end, self.epoch = max(after, int(path.stem)), self.epoch + 1
        self.begun = {epoch: start for epoch, start in self.begun.items() if start < self.end}
        self.note()

    def compact(self) -> None:
        """Write two segments anew as one, without some of their batches, by the renames of the cleaner."""
        self.finish()
        if len(self.segments) < 3:
            return
        one, other, *rest = self.segments
        self.stable = max(self.stable, int(rest[0].stem))
        kept = [data for path in (one, other) for _, data in self.whole(path) if self.chance.random() < 0.6]
        cleaned = one.with_suffix(".log.cleaned")
        cleaned.write_bytes(b"".join(kept))
        cleaned.rename(one.with_suffix(".log.swap"))
        for path in (one, other):
            path.rename(path.with_suffix(".log.deleted"))
        one.with_suffix(".log.swap").rename(one)

    def retain(self) -> None:
        if len(self.segments) > 1:
            self.stable = max(self.stable, int(self.segments[1].stem))
            self.segments[0].unlink()

    def all(self) -> set[tuple[int, int]]:
        """Offset and checksum of each batch that is there."""
        return {(at, int.from_bytes(data[17:21], "big")) for path in self.segments for at, data in self.whole(path)}
