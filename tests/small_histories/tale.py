"""A tale: what one transactional.id did, written down as its coordinator and its partitions write it.

Every step leaves what Kafka leaves: rows of `__transaction_state`, batches and markers, each with the epoch and the
time that it has there (the epoch table of KIP-98, KIP-360, KIP-890).
"""

from __future__ import annotations

from dataclasses import dataclass, field

CLASSIC_TIME, LATE_TIME = 1_690_000_000_000, 1_760_000_000_000
"""July 2023, when no broker spoke transactions v2, and October 2025."""
BYTES_OF_A_RECORD = 78
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of `__transaction_state`; a `state` of None is a tombstone."""

    id: str
    producer: int
    epoch: int
    state: str | None
    places: tuple[Place, ...]
    at: int
    since: int
    timeout: int
    version: int
    offset: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a partition; `marker` is COMMIT, ABORT or None; a producer of -1 is no idempotent one."""

    place: Place
    offset: int
    count: int
    producer: int
    epoch: int
    sequence: int
    at: int
    marker: str | None = None
    coordinator: int = 3

    @property
    def size(self) -> int:
        """Bytes, so that batches lie back to back."""
        return BYTES_OF_A_RECORD * self.count

    @property
    def position(self) -> int:
        return BYTES_OF_A_RECORD * self.offset


@dataclass(slots=True)
class Log:
    """What lies on disk: rows in order, batches in order, and the next offset of each partition."""

    rows: list[Row] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    ends: dict[Place, int] = field(default_factory=dict)
    now: int = CLASSIC_TIME

    def wait(self, ms: int) -> Log:
        self.now += ms
        return self

    def append(self, place: Place, producer: int, epoch: int, sequence: int, number: int = 1, **more: object) -> None:
        offset = self.ends.setdefault(place, 4100 + 37 * place[1])
        self.batches.append(Batch(place, offset, number, producer, epoch, sequence, self.now, **more))  # type: ignore[arg-type]
        self.ends[place] = offset + number

    def others(self, *places: Place) -> Log:
        """Somebody without transactions writes."""
        for place in places:
            self.append(place, -1, -1, -1)
        return self


@dataclass(slots=True)
class Owner:
    """The producer of a transactional.id, over all its instances."""

    log: Log
    id: str = "billing-writer-4"
    producer: int = 7011
    epoch: int = 5
    timeout: int = 60_000
    is_v2: bool = False
    since: int = -1
    open: tuple[Place, ...] = ()
    sequences: dict[Place, int] = field(default_factory=dict)
    coordinator: int = 3

    def row(self, state: str | None, version: int | None = None) -> Owner:
        places = () if state is None or state.startswith(("Complete", "Empty")) else self.open
        since = -1 if state in ("Empty", None) else self.since
        version = (2 if self.is_v2 else 0) if version is None else version
        self.log.rows.append(
            Row(
                self.id,
                self.producer,
                self.epoch,
                state,
                places,
                self.log.now,
                since,
                self.timeout,
                version,
                900 + len(self.log.rows),
            )
        )
        return self

    def init(self) -> Owner:
        """InitProducerId with nothing open."""
        if self.log.rows or self.log.batches:
            self.epoch += 1
        self.sequences.clear()
        return self.row("Empty")

    def begin(self, *places: Place) -> Owner:
        self.since = self.log.now
        self.open = places
        return self.row("Ongoing")

    def write(self, *places: Place, number: int = 3) -> Owner:
        for place in places or self.open:
            sequence = self.sequences.get(place, 0)
            self.log.append(place, self.producer, self.epoch, sequence, number)
            self.sequences[place] = (sequence + number) % (1 << 31)
        return self

    def mark(self, kind: str, *places: Place) -> Owner:
        for place in places:
            self.log.append(place, self.producer, self.epoch, -1, marker=kind, coordinator=self.coordinator)
        return self

    def prepare(self, kind: str, raised: bool = False, version: int | None = None) -> Owner:
        """`kind` is Commit or Abort; the coordinator itself raises the epoch, a client only by transactions v2."""
        if raised or self.is_v2:
            self.epoch += 1
            self.sequences.clear()
        return self.row(f"Prepare{kind}", version)

    def complete(self, kind: str, version: int | None = None, marked: tuple[Place, ...] | None = None) -> Owner:
        self.mark(kind.upper(), *(self.open if marked is None else marked))
        self.log.wait(12)
        self.row(f"Complete{kind}", version)
        self.open, self.since = (), -1
        return self

    def end(self, kind: str, raised: bool = False, version: int | None = None) -> Owner:
        return self.prepare(kind, raised, version).complete(kind, version)

    def commits(self, *places: Place, times: int = 1, lasting: int = 640) -> Owner:
        for _ in range(times):
            self.begin(*places)
            self.log.wait(30)
            self.write()
            self.log.wait(lasting)
            self.end("Commit").log.wait(410)
        return self
