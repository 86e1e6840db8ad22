"""Recorded data directories in other shapes: cut, repeated, overlapping, spread, torn; the facts in them stay what
they are.

`Image` holds a capture's files in memory; what a plan makes of them is written below a folder and can be diagnosed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests import declared
from tests.evidence import broker_folders, fixtures

LEFT_OUT = (".index", ".timeindex")
"""Indexes lead into segments as they were; nothing is concluded from them."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A log segment: where it lay, its bytes, and where its batches begin: (position, base offset), then the end."""

    broker: str
    folder: str
    name: str
    data: bytes
    starts: tuple[tuple[int, int], ...]

    @property
    def batches(self) -> int:
        """Number of batches."""
        return len(self.starts)

    def piece(self, first: int, end: int) -> tuple[str, bytes]:
        """Return name and bytes of a segment that holds the batches from `first` up to `end` (exclusive)."""
        name = self.name if first == 0 else f"{self.starts[first][1]:020d}.log"
        return name, self.data[self._position(first) : self._position(end)]

    def _position(self, batch: int) -> int:
        return self.starts[batch][0] if batch < self.batches else len(self.data)


@dataclass(frozen=True, slots=True, repr=False)
class Image:
    """The data directories of a case: segments, and all other files by broker and path below it."""

    name: str
    segments: tuple[Segment, ...]
    others: dict[str, dict[str, bytes]]

    @property
    def has_cluster_id(self) -> bool:
        """Whether the directories say which cluster they are of."""
        return any(b"cluster.id" in files.get("meta.properties", b"") for files in self.others.values())


@cache
def image(name: str) -> Image:
    """Read the data directories of a case in the repository."""
    segments: list[Segment] = []
    others: dict[str, dict[str, bytes]] = {}
    for broker in broker_folders(fixtures() / name):
        kept = others.setdefault(broker.name, {})
        for path in sorted(path for path in broker.rglob("*") if path.is_file()):
            if path.suffix == ".log" and path.stat().st_size:
                segments.append(_segment(broker.name, path))
            elif path.suffix not in LEFT_OUT:
                kept[str(path.relative_to(broker))] = path.read_bytes()
    return Image(name, tuple(segments), others)


def _segment(broker: str, path: Path) -> Segment:
    data = path.read_bytes()
    starts = tuple((batch.position, batch.base_offset) for batch in declared.batches(data))
    return Segment(broker, path.parent.name, path.name, data, starts)


@dataclass(slots=True, repr=False)
class Layout:
    """What is to be written: files by root and path, and the roots as they will be given."""

    image: Image
    files: dict[tuple[str, str], bytes] = field(default_factory=dict)
    roots: set[tuple[str, str]] = field(default_factory=set)

    def __repr__(self) -> str:
        logs = sorted(
            f"{root}/{path} {len(data)}" for (root, path), data in self.files.items() if path.endswith(".log")
        )
        return f"<{self.image.name}: {', '.join(logs)}>"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(repr(self))

    def place(self, broker: str, root: int, folder: str, name: str, data: bytes) -> None:
        """Put a file into a root of a broker, or into the next that has no file of that name."""
        while (self._root(broker, root), f"{folder}/{name}") in self.files:
            root += 1
        self.files[self._root(broker, root), f"{folder}/{name}"] = data

    def place_others(self, number_of_copies: int = 1) -> None:
        """Put what is no segment where the segments lie: directory files into every root, the others into the first
        ones.
        """
        for root, broker in sorted(self.roots):
            for path, data in self.image.others[broker].items():
                number = sorted(name for name, of in self.roots if of == broker).index(root)
                if "/" not in path or number < number_of_copies:
                    self.files[root, path] = data

    def _root(self, broker: str, number: int) -> str:
        root = f"{broker}.{number}"
        self.roots.add((root, broker))
        return root

    def write(self, below: Path, order: Iterable[int] = ()) -> list[Path]:
        """Write everything; returns the roots, sorted, or turned round by `order`."""
        made: set[Path] = set()
        for (root, path), data in self.files.items():
            target = below / root / path
            if target.parent not in made:
                target.parent.mkdir(parents=True, exist_ok=True)
                made.add(target.parent)
            target.write_bytes(data)
        roots = sorted(below / root for root, _ in self.roots)
        ranks = list(order)
        return sorted(roots, key=lambda root: ranks[roots.index(root) % len(ranks)]) if ranks else roots


def as_recorded(case: Image) -> Layout:
    """The layout that the brokers left."""
    layout = Layout(case)
    for segment in case.segments:
        layout.place(segment.broker, 0, segment.folder, segment.name, segment.data)
    for broker in case.others:
        layout.roots.add((f"{broker}.0", broker))
    layout.place_others()
    return layout


MOST_PIECES = 24
"""Files that a segment is cut into at the most."""


def extremes(case: Image) -> Iterator[Layout]:
    """Yield the layouts at the ends of what can be drawn by lot.

    Every batch (of long segments every few) a file of its own, in turn in one of three directories; the same with each
    file going on over the next three batches, and twice; everything once more whole beside that.
    """
    for reach, copies, with_whole in ((0, 1, False), (3, 2, False), (1, 1, True)):
        layout = Layout(case)
        for log in case.segments:
            step = -(-log.batches // MOST_PIECES)
            for number, first in enumerate(range(0, log.batches, step)):
                name, data = log.piece(first, min(first + step + reach, log.batches))
                for copy in range(copies):
                    layout.place(log.broker, number % 3 + copy, log.folder, name, data)
            if with_whole:
                layout.place(log.broker, 3, log.folder, log.name, log.data)
        for broker in case.others:
            layout.roots.add((f"{broker}.0", broker))
        layout.place_others(2)
        yield layout


@dataclass(frozen=True, slots=True)
class Loss:
    """What is lost of a partition: the bytes of one batch from a place inside it on, and the batches behind up to
    `end`.

    `inside` is how many bytes of the batch `at` are left; `brokers` are those whose copies lose it.
    """

    folder: str
    brokers: tuple[str, ...]
    name: str
    at: int
    inside: int
    end: int

    def leaves_a_trace(self, case: Image) -> bool:
        """Whether something shows that more was there: a batch begun, or offsets missing before others."""
        hit = [segment for segment in case.segments if (segment.folder, segment.name) == (self.folder, self.name)]
        hit = [segment for segment in hit if segment.broker in self.brokers and self.at < segment.batches]
        return all(self._begun(segment) > 0 or self.end < segment.batches for segment in hit)

    def _begun(self, segment: Segment) -> int:
        """Bytes that are left of the first batch lost."""
        return self.inside % len(segment.piece(self.at, self.at + 1)[1])


def with_losses(case: Image, losses: Iterable[Loss]) -> Layout:
    """The layout that the brokers left, less what is lost; behind a loss in the middle a new segment begins."""
    layout = Layout(case)
    by_place = {(broker, loss.folder, loss.name): loss for loss in losses for broker in loss.brokers}
    for segment in case.segments:
        for name, data in _left(segment, by_place.get((segment.broker, segment.folder, segment.name))):
            layout.place(segment.broker, 0, segment.folder, name, data)
    for broker in case.others:
        layout.roots.add((f"{broker}.0", broker))
    layout.place_others()
    return layout


def _left(segment: Segment, loss: Loss | None) -> Iterator[tuple[str, bytes]]:
    if loss is None or loss.at >= segment.batches:
        yield segment.name, segment.data
        return
    _, before = segment.piece(0, loss.at)
    _, batch = segment.piece(loss.at, loss.at + 1)
    yield segment.name, before + batch[: loss.inside % len(batch)]
    if loss.end < segment.batches:
        yield segment.piece(max(loss.end, loss.at + 1), segment.batches)
