"""Connections that could not be made, as the last thing that a few lines show: who waits for them logs nothing else.

A client without a bound on its calls (commitTransaction before 2.3, a large max.block.ms) fails nowhere; the warnings
of its network are all that it says.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import by_client, is_cut_out, seen, times_of
from kafkatx.findings.one_failure import left
from kafkatx.findings.plain_clients import is_foreign
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.breaks import Break, break_in
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, remedy, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Refs, facts


@facts
class ShownLosses:
    """A client's connections that could not be made; `is_refused`: brokers were there, and took no credentials."""

    name: ClientName
    client: Bound[ActorWords] | None
    count: Count
    lines: Refs
    is_refused: bool = False


def at_the_end(model: CaptureModel) -> Iterator[Case]:
    """One case for each client, where in the same text nothing failed and nothing follows."""
    logs, failed = model.logs, _sources_of_failures(model)
    sources = logs.events["source"]
    rows = [row for row in logs.of_kind(EventKind.connection_failed).tolist() if int(sources[row]) not in failed]
    for client, lost in by_client(model, rows):
        if not is_cut_out(logs, lost) or any(row not in lost for row in _behind(logs, lost[-1])):
            continue
        since, until = times_of(logs, lost)
        yield Case(
            facts=ShownLosses(
                client_name(client),
                seen(model, client),
                Count(len(lost)),
                event_refs(model, lost, 4),
                all(break_in(logs.words(row)) is Break.credentials for row in lost),
            ),
            verdict=Verdict.likely,
            severity=Severity.info if is_foreign(model, lost[0]) else Severity.warning,
            transactional_id=client.transactional_id if client is not None else None,
            since=since,
            until=until,
            count=len(lost),
        )


def _sources_of_failures(model: CaptureModel) -> set[int]:
    """The texts in which something failed: connections are told of beside it there."""
    sources = model.logs.events["source"]
    return {int(sources[row]) for told in left(model) for row in told.rows}


def _behind(logs: LogModel, row: int) -> list[int]:
    """The lines that tell something behind one in its source."""
    sources = logs.events["source"]
    return [later for later in range(row + 1, len(sources)) if sources[later] == sources[row]]


SHOWN_WORDS = Words(
    ShownLosses,
    title=pick(
        "is_refused", {True: "a connection refused for its credentials"}, "no connection at the end of what is shown"
    ),
    summary=pick(
        "is_refused",
        {
            True: "A broker was there and refused {name}, {count:time}, for its credentials or certificate. Nothing "
            "of it reached the broker; calls that need it[ {perhaps}] wait.",
        },
        "{name:The} could not connect to a broker, {count:time}, and nothing follows: the broker, or the way to "
        "it, was[ {perhaps}] gone. Calls that need it wait, and what an open commit came to is not known before.",
    ),
    actors=(included("client"),),
    steps=(step("Connections could not be made", "no line about success follows in this text", cites="lines"),),
    considered=(
        left_open(
            "a connection that was made moments later",
            "this text ends with the attempts",
            decided_by="the log of the client behind these lines",
        ),
    ),
    remedies=(
        remedy(
            pick(
                "is_refused",
                {True: "Correct the client's user, password or certificate, or what the brokers know of them"},
                "Check that the brokers run and that their advertised addresses can be reached from here",
            ),
            "operator",
        ),
    ),
)
