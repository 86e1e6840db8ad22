"""The histories of one capture: everything that rules may look at."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

import numpy as np

from kafkatx.histories.counted import Counted
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.transaction_ends import TransactionEnds
from kafkatx.histories.transaction_partitions import TransactionPartitions
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.rows import HIDING_ENTRY, SEQUENCE_BREAK
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import partition_for

DEFAULT_STATE_PARTITIONS = 50
"""transaction.state.log.num.partitions, in all releases."""


@dataclass(frozen=True, slots=True)
class LogExtent:
    """How far a data partition's evidence reaches. Offsets are -1 where nothing is known; times are milliseconds.

    `log_start` is the lowest offset that counts, `log_end` the offset behind the last batch, `first_dirty` where the
    cleaner stopped, `is_compacted` that offsets may be missing for that reason; `has_gaps` that offsets are missing and
    compaction can't explain it; `is_torn` that the end (or a stretch inside) could not be read; `is_printed` that a
    tool's text is all there is, `is_end_told` that its last line is the log's as far as other files say: else lines may
    have been cut off behind it; `first_timestamp` and `newest` span the time of its batches; `deleted_below` is where
    the log begins by a file of its broker (0: none says that something of it was deleted). `only_broker` is the broker
    whose directory alone holds it here, None where several do, or nothing tells whose it is.
    """

    partition_code: int
    topic: str
    partition: int
    log_start: int
    log_end: int
    high_watermark: int
    first_dirty: int
    copies: int
    is_compacted: bool
    has_gaps: bool
    is_torn: bool
    first_timestamp: int
    newest: int
    broker_time: int
    plain_records: int
    highest_epoch: int
    highest_epoch_producer: int
    highest_epoch_offset: int
    is_printed: bool = False
    is_end_told: bool = True
    deleted_below: int = 0
    only_broker: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether absence inside the span of offsets means something."""
        return not self.has_gaps and not self.is_torn


@dataclass(frozen=True, slots=True)
class StateLogExtent:
    """How far a partition of `__transaction_state` reaches; `newest` is the time of its last row.

    `last_gap` is the offset at which the last stretch of missing offsets ended (-1: none is missing), `last_loss` the
    same of those that compaction can't explain; `is_torn` says that the log went on behind what could be read;
    `is_printed` that a tool's text is all there is; `is_end_told` as of LogExtent; `is_pieced` that it is put together
    of stretches of text that are not all that a tool printed, or that lines of its text can't be read.
    """

    partition: int
    first_offset: int
    log_end: int
    first_dirty: int
    is_torn: bool
    newest: int
    leader_epoch: int
    last_gap: int = -1
    last_loss: int = -1
    is_printed: bool = False
    is_end_told: bool = True
    is_pieced: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether every row that is the last one of its id is at hand."""
        return not self.is_torn and self.last_loss < 0


@dataclass(frozen=True)
class Labels:
    """Names behind the codes of a capture."""

    transactional_ids: list[str]
    topic_partitions: list[tuple[str, int]]
    partition_lists: list[tuple[int, ...]]

    @cached_property
    def id_codes(self) -> dict[str, int]:
        """Code of each transactional.id: the first one of a name that several have (undecodable bytes)."""
        codes: dict[str, int] = {}
        for code, name in enumerate(self.transactional_ids):
            codes.setdefault(name, code)
        return codes


@dataclass(frozen=True, slots=True)
class CaptureFacts:
    """What is known of the cluster as a whole.

    `evidence_end` is "now" for ages; `brokers` how many may have written, `known_brokers` how many have said their id;
    `describes_producers` that they are of 2.8 or later, which tools can ask for a partition's producers (KIP-664).
    `release` is theirs where the user said it, else empty.
    """

    name: str
    cluster_id: str | None
    fingerprint: str
    brokers: int
    evidence_end: int
    release_known_to_raise_epoch: bool
    describes_producers: bool = False
    known_brokers: int = 0
    release: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Index:
    """Ways into the tables: `by_id` are rows of transactions ordered by id and then by time.

    `id_codes` their ids; `spans` gives the first and the behind-last row of each partition's spans.
    """

    by_id: Array
    id_codes: Array
    spans: dict[int, tuple[int, int]]


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class CaptureModel:
    """One capture, interpreted. Tables are arrays of the dtypes in kernels/rows.py; codes are resolved by `labels`.

    Of a large capture the plain transactions are `counted`, and are in no table (histories/plain_rows.py).
    """

    facts: CaptureFacts
    labels: Labels
    transactions: Array
    initialisations: Array
    oddities: Array
    latest: Array
    spans: Array
    parts: TransactionPartitions
    ends: TransactionEnds
    log_extents: dict[int, LogExtent]
    state_log_extents: dict[int, StateLogExtent]
    index: Index
    logs: LogModel = field(default_factory=LogModel)
    sequence_breaks: Array = field(default_factory=lambda: np.zeros(0, SEQUENCE_BREAK))
    hiding_entries: Array = field(default_factory=lambda: np.zeros(0, HIDING_ENTRY))
    counted: Counted = field(default_factory=Counted)

    def transactions_of(self, id_code: int) -> Array:
        """Row numbers of an id's transactions, oldest first."""
        codes = self.index.id_codes
        wanted = codes.dtype.type(id_code)  # of another type it would have all codes converted at each call
        return self.index.by_id[np.searchsorted(codes, wanted) : np.searchsorted(codes, wanted, "right")]

    def topics_of(self, id_code: int) -> set[str]:
        """Topics that an id's transactions list."""
        lists = distinct(self.transactions["partitions_code"][self.transactions_of(id_code)])
        members = {member for code in lists[lists >= 0].tolist() for member in self.labels.partition_lists[code]}
        return {self.topic_partition(member)[0] for member in members | self.counted.listed_by(id_code)}

    def spans_of(self, partition_code: int) -> Array:
        """Row numbers of a partition's spans, in the order of their markers, open ones last."""
        first, end = self.index.spans.get(partition_code, (0, 0))
        return np.arange(first, end)

    def transactional_id(self, code: int) -> str:
        """Return the transactional.id behind a code."""
        return self.labels.transactional_ids[code]

    def id_code(self, transactional_id: str | None) -> int:
        """Return the code of a transactional.id, -1 where no row names it: a code without rows."""
        return -1 if transactional_id is None else self.labels.id_codes.get(transactional_id, -1)

    def topic_partition(self, code: int) -> tuple[str, int]:
        """Return (topic, partition) behind a code."""
        return self.labels.topic_partitions[code]

    def age_ms(self, time: int) -> int:
        """Milliseconds from `time` to the end of the evidence."""
        return max(0, self.facts.evidence_end - time)

    def latest_of(self, id_code: int) -> Array | None:
        """Return the latest row of an id."""
        codes = self.latest["id_code"]
        at = int(np.searchsorted(codes, codes.dtype.type(id_code)))  # of its type, as above
        return self.latest[at] if at < len(codes) and codes[at] == id_code else None

    def is_latest_known(self, latest: Array) -> bool:
        """Whether a row of `latest` is the id's last one for certain: nothing that was written behind it is lost."""
        log_extent = self.state_log_extents[int(latest["state_partition"])]
        return not log_extent.is_torn and int(latest["offset"]) >= log_extent.last_loss

    def is_whole_since(self, state_partition: int, time: int) -> bool:
        """Whether no row of a partition of `__transaction_state` from after `time` (ms) can be lost.

        A loss is older where a row behind it is.
        """
        loss = self.state_log_extents[state_partition].last_loss
        if loss < 0:
            return True
        t = self.transactions[self.transactions["state_partition"] == state_partition]
        return any(
            bool(((t[f"{row}_offset"] >= loss) & (t[f"{row}_timestamp"] <= time)).any())
            for row in ("begin", "decision", "completion")
        )

    def owner_of_producer(self, producer_id: int) -> int:
        """Code of the transactional.id that had a producer id, -1 where no row names it."""
        for table in (self.latest, self.transactions, self.initialisations):
            found = table["id_code"][table["producer_id"] == producer_id]
            if len(found):
                return int(found[-1])
        return -1

    @property
    def state_partition_count(self) -> int | None:
        """Number of partitions of `__transaction_state`: the default, unless ids at hand lie elsewhere than it says."""
        if not self.state_log_extents:
            return None
        present = sorted(self.state_log_extents)
        homes = [(self.transactional_id(int(row["id_code"])), int(row["state_partition"])) for row in self.latest[:200]]
        for count in (DEFAULT_STATE_PARTITIONS, present[-1] + 1):
            if count > present[-1] and all(partition_for(name, count) == home for name, home in homes):
                return None if count == 1 and self._is_without_partition else count
        return None

    @property
    def _is_without_partition(self) -> bool:
        """Whether rows were printed by a consumer or a tool, which tell no partition: all stand for the first."""
        return all(one.is_printed and one.leader_epoch < 0 for one in self.state_log_extents.values())

    def state_partition_of(self, transactional_id: str | None) -> int | None:
        """The partition of `__transaction_state` in which rows, or the coordinator's own lines, show an id.

        Rows that were pasted without their partition stand as those of partition 0, which therefore tells nothing.
        """
        if transactional_id is None:
            return None
        rows = self.latest["state_partition"][self.latest["id_code"] == self.id_code(transactional_id)]
        granted = self.logs.about(transactional_id, EventKind.initialized)
        shown = [*rows[rows > 0].tolist(), *self.logs.events["partition"][granted].tolist()]
        return next((int(number) for number in shown if number >= 0), None)

    @property
    def has_all_state_partitions(self) -> bool:
        """Whether every partition of `__transaction_state` is in the evidence, and nothing of it is lost."""
        count = self.state_partition_count
        return (
            count is not None
            and set(range(count)) <= set(self.state_log_extents)
            and all(log_extent.is_whole for log_extent in self.state_log_extents.values())
            and (count > 1 or self._names_all_producers())
        )

    def _names_all_producers(self) -> bool:
        """Whether rows name whoever ended a transaction in the data.

        Of the first partition alone nothing tells whether there are others: each id could lie in the only one.
        """
        tables = (self.latest, self.transactions, self.initialisations)
        named = np.concatenate([table["producer_id"] for table in tables])
        ended = self.spans["producer_id"][self.spans["marker_timestamp"] >= 0]
        return bool(np.isin(ended, named).all())
