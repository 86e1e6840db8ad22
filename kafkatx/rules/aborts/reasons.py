"""Why a client aborted: what went wrong just before, as its log shows."""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import Failure
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.transaction_ends import LogEnding
from kafkatx.words.explanation import remedy
from kafkatx.words.template import pick
from kafkatx.words.values import bare

BEFORE_MS = 60_000
"""How long before an abort its reason may stand in the log."""
SAYS_NOTHING = ("", "KafkaException")
"""Names of exceptions that only repeat that there was one."""


def why_aborted(model: CaptureModel, numbers: list[int]) -> str | None:
    """The exception that each client logged just before it aborted, where all are the same."""
    found: set[str | None] = set()
    for row in model.ends.witnesses.client_abort[numbers].tolist():
        found.add(_before_line(model.logs, row) if row >= 0 else None)
        if len(found) > 1:
            return None
    return found.pop() if found else None


def _before_line(logs: LogModel, row: int) -> str | None:
    """The last exception that says something, of the client that wrote a line, in the minute before it."""
    client, at = logs.client(int(logs.owners[row])), logs.at(row)
    if client is None or at is None:
        return None
    before = [failure for failure in _near(client.failures, at) if failure.row < row]
    names = [bare(failure.exception) for failure in before]
    return next((name for name in reversed(names) if name not in SAYS_NOTHING), None)


def reason_of(end: LogEnding) -> Failure | None:
    """What went wrong just before an abort."""
    before = _near(end.client.failures if end.client is not None else (), end.at)
    return before[-1] if before else None


def _near(failures: Iterable[Failure], at: int) -> list[Failure]:
    """Failures in the minute before a time."""
    return [one for one in failures if one.at is not None and at - BEFORE_MS <= one.at <= at]


NOTHING = remedy(
    text=(
        "Nothing to do if the application meant this abort; if not, find out why it aborted",
        pick("may_lose_nothing", {True: ""}, ". Then send the aborted records again, unless it did so already"),
    ),
    where="application",
)
