"""What failures say in words: the lines of failures whose text means the same thing, by whose they are.

For rules that a text alone decides: a call in a wrong state, a right that is missing. Lines that healthy programs write
as well (a request that is tried again) are no failures, and a broker's line counts only where it is the answer itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from kafkatx.findings.client_lines import by_client
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind, Side
from kafkatx.text.error_messages.refusals import Refusal, refusal_in

Said = TypeVar("Said", bound=Hashable)

TOLD_BY_CLIENTS = (
    EventKind.to_abortable, EventKind.to_fatal, EventKind.failure, EventKind.fenced, EventKind.produce_failed,
    EventKind.batches_failed, EventKind.await_timeout, EventKind.group_lost,
)  # fmt: skip
"""Kinds by which a client, or the application around it, shows a failure."""
STARTED = (EventKind.coordinator_found, EventKind.producer_id_set, EventKind.init_returned)
"""Kinds that a client shows which has got past a refusal of its start."""
AT_START = frozenset({Refusal.timeout_above_limit, Refusal.id_denied})
"""What brokers refuse when a producer asks for its producer id."""
ANSWERED = (EventKind.init_refused, EventKind.add_refused, EventKind.end_refused)
"""Kinds by which a broker shows what it answered a client."""


def by_words(
    model: CaptureModel, read: Callable[[str], Said | None]
) -> Iterator[tuple[ClientInstance | None, Said, list[int]]]:
    """Yield clients (None: nobody's lines), what their failures say as `read` understands it, and the lines."""
    logs = model.logs
    said = {row: value for row in _failing(logs) if (value := read(logs.words(row))) is not None}
    for client, rows in by_client(model, said):
        values: dict[Said, list[int]] = {}
        for row in rows:
            values.setdefault(said[row], []).append(row)
        for value, mine in values.items():
            yield client, value, mine


def with_brokers_lines(
    logs: LogModel, found: Iterable[tuple[ClientInstance | None, Said, list[int]]]
) -> Iterator[tuple[ClientInstance | None, Said, list[int]]]:
    """Yield the same; lines of nobody on the page on which one client says the same are told with that client's."""
    listed = list(found)
    for client, value, rows in listed:
        same = [one for one in listed if one[1] == value and logs.path(one[2][0]) == logs.path(rows[0])]
        clients = [one for one in same if one[0] is not None]
        if len(clients) != 1 or len(same) != len(clients) + 1:
            yield client, value, rows
        elif client is not None:
            yield client, value, sorted(row for one in same for row in one[2])


def _failing(logs: LogModel) -> Iterator[int]:
    """Lines that show a failure, in order."""
    answered = {int(kind) for kind in ANSWERED}
    for row in logs.of_kind(*TOLD_BY_CLIENTS, *ANSWERED).tolist():
        if logs.kind_numbers[row] in answered or logs.number(row, "side") != Side.broker:
            yield row


def failed_before(logs: LogModel, client: ClientInstance | None, row: int) -> list[int]:
    """The client's latest failure before a line that is fatal or abortable, as lines; nothing where there is none.

    A failed start is none of a client that has started since: its coordinator was found, or it got a producer id.
    """
    if client is None:
        return []
    started = [int(one) for one in logs.of_client(client.number, *STARTED) if one < row]
    before = [one for one in client.failures if one.row < row and row not in one.rows]
    worse = [
        one
        for one in before
        if one.category in ("fatal", "abortable")
        and not (refusal_in(logs.words(one.row)) in AT_START and started and started[-1] > one.row)
    ]
    return [worse[-1].row] if worse else []
