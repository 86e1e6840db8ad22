"""Who was given which producer id and epoch, one after the other: what clients and coordinators say of InitProducerId.

Grain    a grant is one epoch of one producer id that one transactional.id was given (a client that its lines don't name
         stands for one). The client's line and the coordinator's are one grant: that of the first line.
Limits   grants are in the order of their times, or of their lines where those stand in one file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key
from itertools import pairwise

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.once import once
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass

GRANTS = (EventKind.producer_id_set, EventKind.initialized)
BLOCK = 1_000
"""Producer ids that a broker takes from the cluster at once."""
FEWEST_BLOCKS = 5
"""Blocks that a new producer id lies below the former one: brokers of one cluster use blocks that lie closer."""


def begins_anew(old: int, new: int) -> bool:
    """Whether a producer id can't be of the cluster that gave the former one: far below it, or the very first."""
    return old // BLOCK - new // BLOCK >= FEWEST_BLOCKS or (new == 0 < old)


@dataclass(frozen=True, slots=True)
class Granted:
    """One epoch of a producer id, the line that tells it first, and when."""

    row: int
    at: int | None
    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Series:
    """Grants of one transactional.id, or of one client that names none (`client_id`, if it has one)."""

    transactional_id: str | None
    client_id: str | None
    all: tuple[Granted, ...]

    def pairs(self) -> Iterator[tuple[Granted, Granted]]:
        """Each grant with the one before it."""
        return pairwise(self.all)


@once
def series(model: CaptureModel) -> list[Series]:
    """The grants of each id, in the order of their first lines."""
    logs = model.logs
    groups: dict[object, dict[tuple[int, int], Granted]] = {}
    for row in logs.of_kind(*GRANTS).tolist():
        producer_id, epoch = logs.number(row, "producer_id"), logs.number(row, "producer_epoch")
        if producer_id is not None and epoch is not None:
            found = groups.setdefault(_whose(logs, row), {})
            found.setdefault((producer_id, epoch), Granted(row, logs.at(row), producer_id, epoch))
    return [_series(logs, whose, list(found.values())) for whose, found in groups.items()]


def _whose(logs: LogModel, row: int) -> object:
    """The id that a grant names, or a number for whoever wrote it."""
    owner = int(logs.owners[row])
    return logs.transactional_id(row) or (owner if owner >= 0 else -1 - int(logs.events["source"][row]))


def _series(logs: LogModel, whose: object, found: list[Granted]) -> Series:
    found.sort(key=cmp_to_key(lambda one, other: -1 if logs.is_before(one.row, other.row) else 1))
    client_id = logs.string(found[0].row, "client_id")
    return Series(whose if isinstance(whose, str) else None, client_id, tuple(found))
