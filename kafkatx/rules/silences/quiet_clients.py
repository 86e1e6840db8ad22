"""Silences of clients' logs: about data that were aborted, and about calls that threw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kafkatx.findings.ends import hands_ids_on
from kafkatx.findings.lost_data import Lost, clock_of
from kafkatx.findings.windows import Windows
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.records import dataclass

EXCEPTIONS = (
    EventKind.failure,
    EventKind.to_abortable,
    EventKind.to_fatal,
    EventKind.fenced,
    EventKind.batch_expired,
    EventKind.batches_failed,
    EventKind.produce_failed,
    EventKind.await_timeout,
)
"""Lines that show that something failed for good."""
SAYS_ABORT = (2, 6)
"""From this release on a client logs abortTransaction; before it an intended abort leaves no line."""
LATEST = 1 << 62
"""A client meets the coordinator's timeout at its next call, however late."""
ENDING_CALLS = ("abortTransaction", "commitTransaction")


@dataclass(frozen=True, slots=True)
class Silence:
    """What was lost (None: only the log tells) at a client, the quiet lines that show it, the close that did it."""

    client: ClientInstance
    lost: Lost | None
    quiet: tuple[int, ...]
    closes: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """Whose it is."""
        return self.lost.id if self.lost is not None else self.client.transactional_id or ""


def over_data(windows: Windows, lost: Iterable[tuple[Lost, ClientInstance | None]]) -> Iterator[Silence]:
    """Silences about lost data that a client's log covers."""
    for one, client in lost:
        silence = _silence(windows, client, one) if client is not None else None
        if silence is not None:
            yield silence


def _silence(windows: Windows, client: ClientInstance, lost: Lost) -> Silence | None:
    """The silence about lost data, None where somebody was told or wanted it so."""
    logs, is_timeout = windows.logs, lost.end.ended_by is EndedBy.timeout
    skew, tolerance = clock_of(logs, client)
    since = lost.since + skew - tolerance
    until = LATEST if is_timeout else lost.until + skew + CLIENT_TOLERANCE_MS
    if windows.is_loud(client, since, until):
        return None
    rows = windows.rows(client, since, until)
    levels, kinds = logs.events["level"][rows], logs.events["kind"][rows]
    quiet = rows[np.isin(kinds, np.array(EXCEPTIONS)) & (levels >= 0)]
    called = rows[(kinds == EventKind.abort_called) & (logs.times[rows] <= lost.until + skew + tolerance)]
    closes = rows[kinds == EventKind.abort_on_close]
    if not len(quiet):
        is_quiet = not (levels >= Level.warn).any() and not len(called)
        is_silent = is_quiet and _can_tell(logs, client, is_timeout or len(closes) > 0)
    else:
        is_silent = not len(called) or bool((quiet < called[-1]).any())  # an abort without an exception was wanted
    return Silence(client, lost, tuple(quiet.tolist()), tuple(closes.tolist())) if is_silent else None


def _can_tell(logs: LogModel, client: ClientInstance, is_unwanted: bool) -> bool:
    """Whether a log without any line about it excludes that the application wanted the abort."""
    says_calls = client.implementation == "java" and logs.facts.sources[client.source].lowest_level <= Level.info
    return says_calls and (is_unwanted or client.release >= SAYS_ABORT)


def by_logs_alone(model: CaptureModel, windows: Windows) -> Iterator[Silence]:
    """Commits and aborts that threw, shown at INFO or below and nowhere louder, of ids of which no row is at hand.

    What a log tells louder of another client of the same id is of this one, perhaps: their names may be mangled.
    """
    for client in model.logs.clients:
        name = client.transactional_id
        if name is None or name in model.labels.id_codes or hands_ids_on(model, name):
            continue
        threw = _quiet_ends(client)
        near = [one for one in model.logs.clients_of(name) if one.source == client.source]
        if threw and not any(windows.is_loud(one, *_around(threw)) for one in near):
            yield Silence(client, None, tuple(row for failure in threw for row in failure.rows or (failure.row,)))


def _quiet_ends(client: ClientInstance) -> list[Failure]:
    """Calls of a client that end a transaction and threw; none where any failure of it is told louder than INFO."""
    if any(failure.level > Level.info or failure.level < 0 for failure in client.failures):
        return []
    return [failure for failure in client.failures if failure.call in ENDING_CALLS and failure.at is not None]


def _around(failures: list[Failure]) -> tuple[int, int]:
    """The time of failures, with what clocks may be off."""
    first, last = failures[0].at or 0, failures[-1].at or 0
    return first - CLIENT_TOLERANCE_MS, last + CLIENT_TOLERANCE_MS
