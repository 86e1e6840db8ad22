"""The histories of one capture: everything that rules may look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kafkatx.histories.coordinator import CoordinatorHistory
from kafkatx.histories.endings import Endings, endings, testified
from kafkatx.histories.growing import Array
from kafkatx.histories.logs.clocks import References
from kafkatx.histories.logs.ends import ends_of, name_codes
from kafkatx.histories.logs.hearing import Witnesses, nobody
from kafkatx.histories.logs.story import LogStory
from kafkatx.histories.logs.telling import tell_logs
from kafkatx.histories.logs.witnesses import witnesses
from kafkatx.histories.participations import Participations, Status, participations
from kafkatx.histories.spans import PartitionSpans
from kafkatx.kernels.rows import INITIALISATION, LATEST, ODDITY, SPAN, TRANSACTION
from kafkatx.kernels.transactions import PREPARE_ABORT
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS, OLD_CLEANUP_INTERVAL_MS
from kafkatx.terms.topics import partition_for
from kafkatx.text.events import LogFacts

DEFAULT_STATE_PARTITIONS = 50
"""transaction.state.log.num.partitions, in all releases."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """How far a data partition's evidence reaches. Offsets are -1 where nothing is known; times are milliseconds.

    `log_start` is the lowest offset that counts, `log_end` the offset behind the last batch, `first_dirty` where the
    cleaner stopped, `is_compacted` that offsets may be missing for that reason; `has_gaps` that offsets are missing and
    compaction can't explain it; `is_torn` that the end (or a stretch inside) could not be read; `is_printed` that a
    tool's text is all there is; `first_timestamp` and `newest` span the time of its batches.
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

    @property
    def is_whole(self) -> bool:
        """Whether absence inside the span of offsets means something."""
        return not self.has_gaps and not self.is_torn


@dataclass(frozen=True, slots=True)
class StateHorizon:
    """How far a partition of `__transaction_state` reaches; `newest` is the time of its last row.

    `last_gap` is the offset at which the last stretch of missing offsets ended (-1: none is missing), `last_loss` the
    same of those that compaction can't explain; `is_torn` says that the log went on behind what could be read.
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
    """

    name: str
    cluster_id: str | None
    fingerprint: str
    brokers: int
    evidence_end: int
    release_known_to_raise_epoch: bool
    describes_producers: bool = False
    known_brokers: int = 0


@dataclass(frozen=True, slots=True)
class Index:
    """Ways into the tables: `by_id` are rows of transactions ordered by id and then by time.

    `id_codes` their ids; `spans` gives the first and the behind-last row of each partition's spans.
    """

    by_id: Array
    id_codes: Array
    spans: dict[int, tuple[int, int]]


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Story:
    """One capture, interpreted. Tables are arrays of the dtypes in kernels/rows.py; codes are resolved by `labels`.

    `witnesses` are rows of `logs.events` beside each transaction.
    """

    facts: CaptureFacts
    labels: Labels
    transactions: Array
    initialisations: Array
    oddities: Array
    latest: Array
    spans: Array
    parts: Participations
    endings: Endings
    horizons: dict[int, Horizon]
    state_horizons: dict[int, StateHorizon]
    index: Index
    logs: LogStory = field(default_factory=LogStory)
    witnesses: Witnesses = field(default_factory=lambda: nobody(0))

    def transactions_of(self, id_code: int) -> Array:
        """Row numbers of an id's transactions, oldest first."""
        codes = self.index.id_codes
        wanted = codes.dtype.type(id_code)  # of another type it would have all codes converted at each call
        return self.index.by_id[np.searchsorted(codes, wanted) : np.searchsorted(codes, wanted, "right")]

    def topics_of(self, id_code: int) -> set[str]:
        """Topics that an id's transactions list."""
        lists = np.unique(self.transactions["partitions_code"][self.transactions_of(id_code)])
        members = {member for code in lists[lists >= 0].tolist() for member in self.labels.partition_lists[code]}
        return {self.topic_partition(member)[0] for member in members}

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
        horizon = self.state_horizons[int(latest["state_partition"])]
        return not horizon.is_torn and int(latest["offset"]) >= horizon.last_loss

    def is_whole_since(self, state_partition: int, time: int) -> bool:
        """Whether no row of a partition of `__transaction_state` from after `time` (ms) can be lost.

        A loss is older where a row behind it is.
        """
        loss = self.state_horizons[state_partition].last_loss
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

    def state_partition_at_hand(self, transactional_id: str) -> bool | None:
        """Whether the coordinator's partition of an id is in the evidence.

        None where the number of partitions is not known.
        """
        count = self.state_partition_count
        return None if count is None else partition_for(transactional_id, count) in self.state_horizons

    @property
    def state_partition_count(self) -> int | None:
        """Number of partitions of `__transaction_state`: the default, unless ids at hand lie elsewhere than it says."""
        if not self.state_horizons:
            return None
        present = sorted(self.state_horizons)
        homes = [(self.transactional_id(int(row["id_code"])), int(row["state_partition"])) for row in self.latest[:200]]
        for count in (DEFAULT_STATE_PARTITIONS, present[-1] + 1):
            if count > present[-1] and all(partition_for(name, count) == home for name, home in homes):
                return count
        return None

    @property
    def has_all_state_partitions(self) -> bool:
        """Whether every partition of `__transaction_state` is in the evidence, and nothing of it is lost."""
        count = self.state_partition_count
        return (
            count is not None
            and set(range(count)) <= set(self.state_horizons)
            and all(horizon.is_whole for horizon in self.state_horizons.values())
        )


def tell(
    facts: CaptureFacts,
    labels: Labels,
    coordinators: list[CoordinatorHistory],
    partitions: list[PartitionSpans],
    horizons: dict[int, Horizon],
    state_horizons: dict[int, StateHorizon],
    logs: LogFacts | None = None,
    log_zone_ms: int | None = None,
    join: Callable[[Array, Array], Participations] | None = None,
) -> Story:
    """Join what the folds yielded, and what logs say, to the story of a capture.

    `log_zone_ms` is the zone of logs whose times name none, None to estimate it; `join` gives the participations of all
    transactions and spans where they were found partition by partition. Pure: the same tables give the same story.
    """
    transactions = _stacked(coordinators, "transactions", TRANSACTION)
    latest = np.sort(_latest(coordinators), order=["id_code", "timestamp"])
    spans = _stacked(partitions, "spans", SPAN)
    at_hand = np.zeros(len(labels.topic_partitions) + 1, bool)
    at_hand[[code for code in horizons]] = True
    tolerance = 0 if facts.brokers <= 1 else BROKERS_TOLERANCE_MS
    if join is None:
        parts = participations(transactions, spans, labels.partition_lists, at_hand, tolerance)
    else:
        parts = join(transactions, spans)
    raises = facts.release_known_to_raise_epoch or _epoch_was_raised_by_timeout(transactions)
    ended = endings(transactions, _data_epochs(len(transactions), spans, parts), raises, facts.brokers <= 1)
    story = Story(
        facts, labels, transactions,
        _stacked(coordinators, "initialisations", INITIALISATION),
        _stacked(coordinators, "oddities", ODDITY),
        latest, spans, parts, ended, horizons, state_horizons, _index(transactions, partitions),
    )  # fmt: skip
    return heard(story, logs or LogFacts(), log_zone_ms)


def heard(story: Story, logs: LogFacts, log_zone_ms: int | None = None) -> Story:
    """Lay logs beside a story that was told without any: clients, clocks, witnesses, and what those say of endings."""
    t, ids = story.transactions, story.labels.transactional_ids
    told = tell_logs(logs, References(story.initialisations, t, ids), log_zone_ms)
    if not len(told.events):
        return replace(story, logs=told, witnesses=nobody(len(t)))
    seen = witnesses(told, ends_of(t, story.endings.data_epoch, name_codes(told, ids)))
    ended = testified(story.endings, seen, t["decision"] == PREPARE_ABORT)
    return replace(story, endings=ended, logs=told, witnesses=seen)


def _latest(coordinators: list[CoordinatorHistory]) -> Array:
    """Latest rows of all state partitions; `transaction_row` counts in the table of all transactions from here on."""
    tables, before = [np.zeros(0, LATEST)], 0
    for history in coordinators:
        rows = history.latest.copy()
        rows["transaction_row"] += np.where(rows["transaction_row"] >= 0, before, 0)
        tables.append(rows)
        before += len(history.transactions)
    return np.concatenate(tables)


def _index(transactions: Array, partitions: list[PartitionSpans]) -> Index:
    by_id = np.argsort(transactions["id_code"], kind="stable")
    ends = np.cumsum([len(part.spans) for part in partitions]).tolist()
    ranges = {
        int(part.spans["partition_code"][0]): (end - len(part.spans), end)
        for part, end in zip(partitions, ends, strict=True)
        if len(part.spans)
    }
    return Index(by_id, transactions["id_code"][by_id], ranges)


def _stacked(parts: Sequence[CoordinatorHistory | PartitionSpans], name: str, dtype: np.dtype[np.void]) -> Array:
    """One table of the parts' tables `name`, which become views of it: millions of rows are not to be held twice."""
    if len(parts) == 1:
        only: Array = getattr(parts[0], name)
        return only
    whole = np.empty(sum(len(getattr(part, name)) for part in parts), dtype)
    end = 0
    for part in parts:
        begin, end = end, end + len(getattr(part, name))
        whole[begin:end] = getattr(part, name)
        setattr(part, name, whole[begin:end])
    return whole


def _data_epochs(count: int, spans: Array, parts: Participations) -> Array:
    """Epoch of each transaction's data as the partitions show it, -1 where none is at hand."""
    epochs = np.full(count, -1, np.int32)
    known = (parts.rows["span"] >= 0) & (parts.rows["status"] != Status.UNDECIDED)
    epochs[parts.rows["transaction"][known]] = spans["producer_epoch"][parts.rows["span"][known]]
    return epochs


def _epoch_was_raised_by_timeout(t: Array) -> bool:
    """Whether this cluster's coordinator was seen to raise the epoch when a transaction ran out of time."""
    duration = t["decided_at"] - t["started_at"]
    over = (duration > t["timeout_ms"]) & (duration <= t["timeout_ms"].astype(np.int64) + 2 * OLD_CLEANUP_INTERVAL_MS)
    raised = (t["producer_epoch"] >= 0) & (t["decision_epoch"] == t["producer_epoch"] + 1) & (t["begin_version"] != 2)
    return bool((over & raised & (t["decision"] == 3)).any())
