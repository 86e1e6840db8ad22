"""Times at which a client gave up batches that it had sent: the lines that say so, expiries and retries before them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

import numpy as np

from kafkatx.findings.client_lines import producer_at, rows_of, times_of, topic_partition
from kafkatx.findings.expiries import is_expiry
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.distinct import distinct
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.words.values import Count, Duration, NameList

SETTING = "unable to satisfy gap-less"
"""Said where enable.gapless.guarantee stops librdkafka after a broker's answer: the batch was refused, not lost."""
EVERY_ATTEMPT = 2_147_483_647
"""Default retries: what `attempts left` is counted down from."""


class Variant(Enum):
    """What the client made of it."""

    fatal = auto()
    abortable = auto()
    idempotent = auto()


@dataclass(frozen=True, slots=True)
class Loss:
    """One time it happened: the rows that say so, expiries and retries before them, and the partitions they name."""

    client: ClientInstance | None
    rows: tuple[int, ...]
    expired: tuple[int, ...]
    retried: tuple[int, ...]
    partitions: tuple[tuple[str, int], ...]

    @property
    def producer(self) -> tuple[int | None, int | None]:
        """Producer id and epoch of the time."""
        return producer_at(self.client, self.rows[0])


def telling_rows(logs: LogModel) -> list[int]:
    """What clients say themselves; a bump that names no partition (librdkafka) may follow any error."""
    bumps = logs.of_kind(EventKind.idempotent_bump)
    bumps = bumps[logs.events["topic_code"][bumps] >= 0]
    lost = logs.saying(Saying.LOST_ACKNOWLEDGEMENT)
    stopped = [
        row for row in logs.of_kind(EventKind.failure, EventKind.to_fatal).tolist() if SETTING in logs.words(row)
    ]
    lost = lost[~np.isin(logs.events["source"][lost], logs.events["source"][stopped])]
    rows = np.concatenate((lost, bumps))
    return distinct(rows).tolist()  # type: ignore[no-any-return]


def episodes(logs: LogModel, client: ClientInstance | None, rows: list[int]) -> Iterator[list[int]]:
    """Lines that tell one event: until the client aborts or has another epoch; a fatal state has no end."""
    kinds = (EventKind.abort_called, EventKind.init_bump, EventKind.producer_id_set)
    ends = rows_of(logs, client, *kinds).tolist() if client is not None else []
    episode: list[int] = []
    for row in rows:
        if episode and any(episode[-1] < end < row for end in ends) and not _is_fatal(logs, episode):
            yield episode
            episode = []
        episode.append(row)
    if episode:
        yield episode


def _is_fatal(logs: LogModel, rows: list[int]) -> bool:
    errors = [row for row in rows if logs.kind(row) != EventKind.idempotent_bump]
    return not all(logs.says(row, Saying.STAYS_ABORTABLE) for row in errors)


def variant_of(logs: LogModel, rows: list[int]) -> Variant:
    """Return what the client made of it."""
    if all(logs.kind(row) == EventKind.idempotent_bump for row in rows):
        return Variant.idempotent
    return Variant.fatal if _is_fatal(logs, rows) else Variant.abortable


def loss_of(logs: LogModel, client: ClientInstance | None, rows: list[int]) -> Loss:
    """Add what went before: expired batches since the last success is not logged, so all of this life count."""
    before = [] if client is None else rows_of(logs, client, EventKind.batch_expired, EventKind.failure).tolist()
    expired = [row for row in before if row <= rows[-1] and is_expiry(logs, row)]
    retried = [] if client is None else rows_of(logs, client, EventKind.produce_retry).tolist()
    named = [found for row in (*rows, *expired) if (found := _partition(logs, row)) is not None]
    partitions = tuple(dict.fromkeys(named))
    mine = [row for row in retried if row < rows[-1] and (not partitions or topic_partition(logs, row) in partitions)]
    return Loss(client, tuple(rows), tuple(expired), tuple(mine), partitions)


def was_refused(logs: LogModel, loss: Loss) -> bool:
    """Whether the leader refused every attempt that is told as out of order: such a batch was answered."""
    told = [logs.string(row, "error") for row in loss.retried]
    return bool(told) and not loss.expired and all(error == "OUT_OF_ORDER_SEQUENCE_NUMBER" for error in told)


def _partition(logs: LogModel, row: int) -> tuple[str, int] | None:
    """Partition that a line is about: its column, else that of an expiry in its words."""
    named = topic_partition(logs, row)
    expiry = None if named else logs.expiry(row)
    return (expiry.topic, expiry.partition) if expiry else named


def _age(logs: LogModel, row: int) -> int | None:
    """Age of an expired batch in milliseconds."""
    if logs.kind(row) == EventKind.batch_expired and logs.number(row, "number") is not None:
        return logs.number(row, "number")
    expiry = logs.expiry(row)
    return expiry.age_ms if expiry else None


def errors_of(logs: LogModel, loss: Loss) -> NameList | None:
    """What sends were answered before they were tried again."""
    errors = {error for row in loss.retried if (error := logs.string(row, "error")) is not None}
    return NameList(sorted(errors)) if errors else None


def attempts_used(logs: LogModel, loss: Loss) -> Count | None:
    """How many attempts were used, where their number was not limited."""
    left = min((value for row in loss.retried if (value := logs.number(row, "number")) is not None), default=0)
    return Count(EVERY_ATTEMPT - left) if left > 2**30 else None


def oldest_of(logs: LogModel, loss: Loss) -> Duration | None:
    """Return how old the oldest batch was that was given up."""
    ages = [age for row in loss.expired if (age := _age(logs, row)) is not None]
    return Duration(max(ages)) if ages else None


def made_at_of(logs: LogModel, loss: Loss) -> int | None:
    """When the first batch that was given up was made, by the client's clock."""
    made = [
        at - age for row in loss.expired if (at := logs.at(row)) is not None and (age := _age(logs, row)) is not None
    ]
    return min(made, default=None)


def outage_of(logs: LogModel, loss: Loss) -> int:
    """How long sends to the partition are known to have failed: from the batch's making, or the first retry, on."""
    first, _ = times_of(logs, loss.retried[:1])
    made, (_, last) = made_at_of(logs, loss), times_of(logs, loss.rows)
    begins = [at for at in (first, made) if at is not None]
    return last - min(begins) if begins and last is not None else 0
