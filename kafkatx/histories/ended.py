"""One transaction and how it ended, typed: what rows, data or logs tell of it, None for what none of them does."""

from __future__ import annotations

from typing import Any

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.transaction_ends import LogEnding, ToldBy
from kafkatx.histories.transaction_partitions import DISPUTED, Status
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import COMMIT
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class TransactionEnd:
    """A number of `model.ends` with what stands behind it; times and durations in milliseconds."""

    model: CaptureModel
    number: int

    @property
    def told_by(self) -> ToldBy:
        """Rows, data or logs; what logs added to the first two is no matter here."""
        ends = self.model.ends
        return next(kind for kind in (ToldBy.rows, ToldBy.data, ToldBy.logs) if self.number in ends.numbers(kind))

    @property
    def ended_by(self) -> EndedBy:
        """Who ended it."""
        return EndedBy(int(self.model.ends.ended_by[self.number]))

    @property
    def verdict(self) -> Verdict:
        """How sure that is."""
        return Verdict(int(self.model.ends.verdict[self.number]))

    @property
    def reason(self) -> Reason:
        """Which observation decided it."""
        return Reason(int(self.model.ends.reason[self.number]))

    @property
    def protocol(self) -> Protocol:
        """How the transaction was run."""
        return Protocol(int(self.model.ends.protocol[self.number]))

    @property
    def by_operator(self) -> bool:
        """Whether an operator wrote its marker."""
        return bool(self.model.ends.by_operator[self.number])

    @property
    def took_ms(self) -> int | None:
        """From its start to its decision; of data from the first batch to the marker."""
        return known(self.model.ends.duration_ms[self.number])

    @property
    def row(self) -> Array:
        """Its row in the table of transactions, of one that rows tell."""
        return self.model.transactions[self.number]

    @property
    def log(self) -> LogEnding:
        """What logs tell, of one that only they do."""
        return self.model.ends.log(self.number)

    @property
    def data(self) -> list[Array]:
        """Spans that hold its data, also those that a foreign marker cut off from the rest of a partition.

        Not those of another transaction that its marker ended as well, since theirs was lost.
        """
        spans, owner = self.model.spans, self.model.parts.owner
        if self.told_by is ToldBy.data:
            return [spans[self.model.ends.span(self.number)]]
        parts = [(int(part["span"]), int(part["marker"])) for part in self._parts()]
        numbers = [one for part in parts for one in dict.fromkeys(part) if one >= 0 and owner[one] == self.number]
        return [spans[number] for number in numbers if spans["first_offset"][number] >= 0]

    @property
    def committed_data(self) -> list[Array]:
        """Data that a COMMIT marker ended: readers are given them, whatever was decided and marked behind it."""
        return [span for span in self.data if span["marker_kind"] == COMMIT]

    @property
    def aborted_data(self) -> list[Array]:
        """Data that no COMMIT marker ended, of one that was aborted."""
        return [span for span in self.data if span["marker_kind"] != COMMIT]

    @property
    def loses_nothing(self) -> bool:
        """Whether COMMIT markers ended the data in every partition, so that an abort behind them ended nothing."""
        is_settled = all(part["span"] >= 0 or part["status"] == Status.MARKED for part in self._parts())
        return is_settled and bool(self.committed_data) and not self.aborted_data

    @property
    def is_empty(self) -> bool:
        """Whether it is known to have written no record: in each of its partitions its marker stands alone.

        That tells only where nothing was deleted before the marker, by retention, the cleaner (which takes the records
        of an aborted transaction before its marker) or damage.
        """
        parts = list(self._parts())
        return bool(parts) and not self.data and all(self._is_alone(int(part["marker"])) for part in parts)

    def _is_alone(self, marker: int) -> bool:
        if marker < 0:
            return False
        span = self.model.spans[marker]
        extent = self.model.log_extents[int(span["partition_code"])]
        from_the_start = extent.log_start == 0 and extent.deleted_below == 0
        is_seen = from_the_start or span["previous_marker_offset"] >= 0
        return bool(is_seen and extent.is_whole and not extent.is_compacted)

    @property
    def perhaps_committed_data(self) -> list[Array]:
        """Data that COMMIT markers ended and that may be its own, as far as it has none: two transactions fit them."""
        if self.told_by is not ToldBy.rows:
            return []
        spans, owner = self.model.spans, self.model.parts.owner
        codes = [int(part["partition_code"]) for part in self._parts() if part["span"] < 0]
        here = [int(number) for code in codes for number in self.model.spans_of(code) if owner[number] == DISPUTED]
        theirs = (number for number in here if spans["producer_id"][number] == self.row["producer_id"])
        found = (spans[number] for number in theirs if spans["producer_epoch"][number] == self.row["producer_epoch"])
        return [span for span in found if span["first_offset"] >= 0 and span["marker_kind"] == COMMIT]

    @property
    def markers(self) -> list[Array]:
        """Spans that hold its markers."""
        if self.told_by is ToldBy.data:
            return self.data
        return [self.model.spans[int(part["marker"])] for part in self._parts() if part["marker"] >= 0]

    def _parts(self) -> Any:
        return self.model.parts.of(self.number) if self.told_by is ToldBy.rows else ()

    @property
    def transactional_id(self) -> str | None:
        """Whose it was: by its row, by the rows of its producer id, else by the lines beside it or its client's log."""
        kind, model = self.told_by, self.model
        if kind is ToldBy.rows:
            return model.transactional_id(int(self.row["id_code"]))
        if kind is ToldBy.logs:
            return self.log.name
        owner = model.owner_of_producer(int(self.data[0]["producer_id"]))
        if owner >= 0:
            return model.transactional_id(owner)
        names = model.logs.named_by(self.witnesses.values())
        if self.client is not None and self.client.owns_producer_ids and self.client.transactional_id is not None:
            names.add(self.client.transactional_id)
        return names.pop() if len(names) == 1 else None

    @property
    def client(self) -> ClientInstance | None:
        """The instance that ran it, as far as a log shows who was given its producer id and epoch."""
        found = self.model.ends.witnesses.instance
        return self.model.logs.client(int(found[self.number])) if self.number < len(found) else None

    @property
    def producer_id(self) -> int | None:
        """Whose it was, by number."""
        kind = self.told_by
        if kind is ToldBy.logs:
            return self.log.producer_id
        return known((self.row if kind is ToldBy.rows else self.data[0])["producer_id"])

    @property
    def witnesses(self) -> dict[str, int]:
        """Rows of the events beside it, by name of the witness."""
        ends = self.model.ends
        return ends.witnesses.rows_of(self.number) if self.number < len(ends.witnesses.rollback) else {}

    @property
    def was_alive(self) -> bool:
        """Whether the instance that ran it was seen refused afterwards."""
        return "refusal" in self.witnesses


def known(value: Any) -> int | None:
    """Return None for an absent (negative) number."""
    return int(value) if value >= 0 else None
