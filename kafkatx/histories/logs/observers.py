"""Who saw that a broker could not be reached, for how long, and how much that says.

hard      a connection that could not be made; a request without answer that waits for nobody else (ApiVersions,
          Metadata, Fetch); a controller that gave the broker up.
soft      a request without answer that waits for followers (Produce with acks=all, EndTxn, ...): its broker may only be
          waiting for another one.
indirect  a leader's answer REQUEST_TIMED_OUT or NOT_ENOUGH_REPLICAS: it is there, its followers are not
          (DelayedProduce; clients 0.11 to 4.4). Clients of 3.3 and later print the same name for their own timeout,
          then with the cancelled request beside it.
lost      a connection that was lost: so are idle and orderly closed ones.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

QUIET_MS = 15_000
"""Two failures further apart than this (without a request that waited in between) are two stretches: reconnects are
tried at least once in reconnect.backoff.max.ms (1 s), by fetchers and heartbeats within some seconds."""
_ROTATED = regex(r"(\.(gz|zst|\d+)|[.-]\d{4}-\d\d-\d\d(-\d+)?)+$")


class Weight(IntEnum):
    """How much a line says about its target."""

    lost = 0
    indirect = 1
    soft = 2
    hard = 3


class Observer(NamedTuple):
    """Who saw it: `kind` is broker, client (a log of a process) or leader (of a partition, told by its answers)."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class ConnectionFailure:
    """A stretch of failures of one observer against one target; times in milliseconds.

    `node` is None where the lines name none (bootstrap addresses, retries that name only a partition); `since` is when
    the first answer was lacked, `until` the last failure (or the answer that came in the end); `rows` are the lines;
    `perhaps_since` is where it began if the first request had waited, where nothing tells how long, or for whom.
    """

    observer: Observer
    node: int | None
    since: int
    until: int
    rows: tuple[int, ...]
    weight: Weight
    topic_partition: str | None = None
    perhaps_since: int | None = None

    def overlaps(self, since: int, until: int, tolerance: int = 0) -> bool:
        """Whether it shares time with another stretch."""
        return self.earliest <= until + tolerance and since <= self.until + tolerance

    @property
    def earliest(self) -> int:
        """When it can have begun."""
        return self.since if self.perhaps_since is None else self.perhaps_since


def observer_of(logs: LogModel, source: int, side: int = Side.unknown) -> Observer:
    """The broker that wrote a line, else the log itself without what rotation added to its name.

    In a page that quotes logs of both sides `side` is that of the line.
    """
    entry = logs.facts.sources[source]
    wrote = side if side != Side.unknown else entry.side
    if wrote == Side.broker and entry.broker_id is not None:
        return Observer("broker", f"broker {entry.broker_id}")
    return Observer("broker" if wrote == Side.broker else "client", _ROTATED.sub("", entry.path))
