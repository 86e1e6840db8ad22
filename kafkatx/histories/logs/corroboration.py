"""What logs saw of ends (`Corroboration`), and what it is found with: events, ends and clocks (`EvidenceMatcher`).

Clocks  brokers' lines and rows are compared with the brokers' tolerance, clients' lines with the clients', less the
        skew that shared events show (histories/logs/clocks.py); a clock known to be far off widens its tolerance.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from kafkatx.histories.logs.ends import Ends
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Corroboration:
    """Rows of events parallel to the ends they witness, -1 for none; instances are numbers of LogStory.clients.

    `rollback`: the coordinator's line that it rolled the transaction back; `granted`: a broker gave the epoch that
    follows within the time in which a new instance asks again; `taken_over`: another instance's log shows that it got
    it, `renewed`: its own instance did; `refusal`: the transaction's own instance (or the broker) shows that its old
    epoch was refused afterwards, so it was alive; `state_refused`: a call of it was refused with INVALID_TXN_STATE;
    `client_abort`: its own abort just before the end, with no refusal after it; `own_bump`: it asked for a new epoch of
    its own producer id (KIP-360); `end_request`, `init_request`: the request log's EndTxn and InitProducerId at that
    time. `instance` ran the transaction, `new_instance` took the id over. `is_silent`: the coordinator's log covers the
    end and has no rollback line, `goes_on`: the log of its instance goes on beyond the end, `is_init_alone`: the
    request log, which shows other EndTxn of the id, shows none there beside InitProducerId.
    """

    rollback: Any
    granted: Any
    taken_over: Any
    renewed: Any
    refusal: Any
    state_refused: Any
    client_abort: Any
    own_bump: Any
    end_request: Any
    init_request: Any
    instance: Any
    new_instance: Any
    is_silent: Any
    goes_on: Any
    is_init_alone: Any

    @property
    def is_taken_over(self) -> Any:
        """Whether logs show two living instances: another got the next epoch, and the old one was refused after."""
        return (self.taken_over >= 0) & (self.refusal >= 0)

    @property
    def is_granted(self) -> Any:
        """Whether a log shows that the epoch that follows was given, and not to the transaction's own instance."""
        return ((self.granted >= 0) | (self.taken_over >= 0)) & (self.renewed < 0)

    def joined(self, other: Corroboration) -> Corroboration:
        """Return these and those of further ends behind them."""
        names = [field.name for field in fields(Corroboration)]
        return Corroboration(**{name: np.concatenate((getattr(self, name), getattr(other, name))) for name in names})

    def taken(self, places: Any) -> Corroboration:
        """Return those of the ends at these places, in their order."""
        return Corroboration(**{field.name: getattr(self, field.name)[places] for field in fields(Corroboration)})

    def rows_of(self, number: int) -> dict[str, int]:
        """Rows of the events beside one end, by name of the witness."""
        kinds = ("rollback", "granted", "taken_over", "renewed", "refusal", "state_refused", "client_abort", "own_bump",
                 "end_request", "init_request")  # fmt: skip
        return {kind: row for kind in kinds if (row := int(getattr(self, kind)[number])) >= 0}


def nobody(count: int) -> Corroboration:
    """Return the witnesses of `count` ends where no log is at hand: columns of one value each, not to be written to."""
    rows = {field.name: np.broadcast_to(np.int64(-1), count) for field in fields(Corroboration)}
    flags = {name: np.broadcast_to(np.False_, count) for name in ("is_silent", "goes_on", "is_init_alone")}
    return Corroboration(**(rows | flags))


class EvidenceMatcher:
    """The logs of a capture, ends, and the witnesses found so far.

    `reached` is when an end was over at the latest, `names` and `keys` are the ends' ids and producers with their
    epochs, -1 where no time is known; `skew` and the tolerances are milliseconds by source.
    """

    def __init__(self, logs: LogModel, ends: Ends) -> None:
        self.logs, self.ends = logs, ends
        columns = asdict(nobody(len(ends.decided_at)))
        self.found = Corroboration(**{name: column.copy() for name, column in columns.items()})
        self.reached = np.maximum(ends.decided_at, ends.completed_at)
        self.names = self.timed(ends.name)
        known = (ends.producer_id >= 0) & (ends.epoch >= 0)
        self.keys = self.timed(np.where(known, ends.producer_id.astype(np.int64) * 65_536 + ends.epoch, -1))
        skews = [abs(clock.skew_ms or 0) for clock in logs.clocks]
        self.skew = np.array([clock.skew_ms or 0 for clock in logs.clocks], np.int64)
        self.client_tolerance = np.array([clock.tolerance_ms for clock in logs.clocks], np.int64)
        self.broker_tolerance = np.array([BROKERS_TOLERANCE_MS + skew for skew in skews], np.int64)

    def timed(self, keys: Array) -> Array:
        """Keys of ends whose time is known, -1 for the others."""
        known: Array = np.where(self.ends.decided_at >= 0, keys, -1)
        return known

    def rows(self, *kinds: EventKind) -> tuple[Array, Array]:
        """Timed events of these kinds, and their times with the skew of their source taken off where it is known."""
        rows = self.logs.of_kind(*kinds)
        rows = rows[self.logs.times[rows] >= 0]
        return rows, self.logs.times[rows] - self.skew[self.logs.events["source"][rows]]

    def note(self, column: Array, ends: Array, rows: Array) -> None:
        """Write rows beside ends; the first row of an end stays."""
        for end, row in zip(ends.tolist(), rows.tolist(), strict=True):
            if column[end] < 0:
                column[end] = row
