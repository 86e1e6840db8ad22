"""Why a client aborted: what went wrong just before, as its log shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import Failure
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.transaction_ends import LogEnding
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import remedy, step
from kafkatx.words.log_refs import cut, event_ref
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Quoted, Refs, bare

BEFORE_MS = 60_000
"""How long before an abort its reason may stand in the log."""
SAYS_NOTHING = ("", "KafkaException", "_DESTROY_BROKER", "_DESTROY")
"""Names of errors that only repeat that there was one, or that librdkafka's handles are closed."""


def why_aborted(model: CaptureModel, numbers: list[int]) -> str | None:
    """The exception that each client logged just before it aborted, where all are the same."""
    found: set[str | None] = set()
    for row in dict.fromkeys(model.ends.witnesses.client_abort[numbers].tolist()):
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


@dataclass(frozen=True, slots=True)
class Announced:
    """What an application logged right before most of its aborts: its words, before how many, and the lines."""

    said: Quoted
    count: Count
    lines: Refs


def announced(model: CaptureModel, rows: Iterable[int]) -> Announced | None:
    """What the application logged right before lines of abortTransaction: the words that stand there most often."""
    logs = model.logs
    own = [row for row in rows if row >= 0 and logs.kind(row) is EventKind.abort_called]
    own = [row for row in own if not _is_known(logs, row)]
    found = Counter(text for row in own if (text := logs.string(row, "detail")) is not None)
    if not found:
        return None
    said, count = found.most_common(1)[0]
    lines = [row for row in own if logs.string(row, "detail") == said]
    places = tuple(replace(event_ref(model, row), text=cut(said), line=line_before(logs, row)) for row in lines[:3])
    return Announced(Quoted(said), Count(count), places)


def line_before(logs: LogModel, row: int) -> int:
    """Number of the line before an event's."""
    return int(logs.events["line"][row]) - 1


def _is_known(logs: LogModel, row: int) -> bool:
    """Whether the line before an event's is one itself, and is told as what it is (a failure, above all)."""
    e = logs.events
    return (
        row > 0 and bool(e["source"][row - 1] == e["source"][row]) and int(e["line"][row - 1]) == line_before(logs, row)
    )


def reason_of(end: LogEnding) -> Failure | None:
    """What went wrong just before an abort: the last failure that says what, else the last one."""
    before = _near(end.client.failures if end.client is not None else (), end.at)
    telling = [one for one in before if bare(one.exception) not in SAYS_NOTHING]
    return next(reversed(telling or before), None)


def _near(failures: Iterable[Failure], at: int) -> list[Failure]:
    """Failures in the minute before a time."""
    return [one for one in failures if one.at is not None and at - BEFORE_MS <= one.at <= at]


RESEND = pick("may_lose_nothing", {True: ""}, ". Then send the aborted records again, unless it did so already")
NOTHING = remedy(
    text=("Nothing to do if the application meant this abort; if not, find out why it aborted", RESEND),
    where="application",
)
BY_REASON = (
    remedy(
        text=("Mend what made it abort ({why}) first: the same records may fail again", RESEND),
        where="application",
        needs="why",
    ),
    remedy(
        text=(
            "If these records were meant to be written: commit before close(), which aborts what is still open",
            RESEND,
        ),
        where="application",
        needs="by_close",
        unless="why",
    ),
    remedy(
        text=(
            pick(
                "is_often",
                {True: "Find out why the application rolls back so often: it says {announced.said:90} itself"},
                "Nothing to do if the application is meant to roll back then: it says {announced.said:90} itself",
            ),
            pick(
                "may_lose_nothing", {True: ""}, ". Send the aborted records again only if they were meant to be written"
            ),
        ),
        where="application",
        needs="announced",
        unless="why by_close",
    ),
)
"""What to do about aborts whose reason shows, over facts that have `why`, `by_close`, `announced` and `is_often`."""
SAID_BEFORE = step(
    (
        "The application logged {announced.said} just before ",
        pick("announced.count", {1: "the abort"}, "{announced.count} of the aborts"),
    ),
    "the line before its client's own",
    cites="announced.lines",
    needs="announced",
)
"""What the application itself says of its aborts."""
