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
from kafkatx.rules.outages.sights import Brokers
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.breaks import Break, break_in
from kafkatx.text.logs.contexts import MARKERS
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, remedy, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, NameList, Refs, facts


@facts
class ShownLosses:
    """A client's connections that could not be made; `is_refused`: brokers were there, and took no credentials."""

    name: ClientName
    client: Bound[ActorWords] | None
    count: Count
    lines: Refs
    is_refused: bool = False


@facts
class CoordinatorLosses:
    """A coordinator's connections for markers that could not be made; `node` is its broker, `missed` the others."""

    node: int | None
    missed: Brokers | None
    addresses: NameList
    count: Count
    lines: Refs

    @property
    def by(self) -> str:
        """The coordinator as sentences begin with it."""
        return (
            "A transaction coordinator" if self.node is None else f"The transaction coordinator on broker {self.node}"
        )


def at_the_end(model: CaptureModel) -> Iterator[Case]:
    """One case for each client and coordinator, where in the same text nothing failed and nothing follows."""
    logs, failed = model.logs, _sources_of_failures(model)
    sources = logs.events["source"]
    rows = [row for row in logs.of_kind(EventKind.connection_failed).tolist() if int(sources[row]) not in failed]
    of_markers = [row for row in rows if logs.string(row, "api") == MARKERS]
    yield from _of_coordinators(model, of_markers)
    for client, lost in by_client(model, [row for row in rows if row not in of_markers]):
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


def _of_coordinators(model: CaptureModel, rows: list[int]) -> Iterator[Case]:
    """One case for each broker whose coordinator can't connect to others to send them markers."""
    logs = model.logs
    of_source: dict[int, list[int]] = {}
    for row in rows:
        of_source.setdefault(int(logs.events["source"][row]), []).append(row)
    for source, lost in of_source.items():
        if not is_cut_out(logs, lost) or any(row not in lost for row in _behind(logs, lost[-1])):
            continue
        missed = tuple(sorted({node for row in lost if (node := logs.number(row, "node")) is not None}))
        since, until = times_of(logs, lost)
        yield Case(
            facts=CoordinatorLosses(
                logs.facts.sources[source].broker_id,
                Brokers(missed) if missed else None,
                NameList(dict.fromkeys(address for row in lost if (address := logs.string(row, "detail")))),
                Count(len(lost)),
                event_refs(model, lost, 4),
            ),
            verdict=Verdict.likely,
            severity=Severity.warning,
            since=since,
            until=until,
            count=len(lost),
            nodes=missed,
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

COORDINATOR_WORDS = Words(
    CoordinatorLosses,
    title="its coordinator could not connect to {missed}",
    who=pick("node", {None: "transaction coordinator"}, "broker {node}"),
    summary="{by} could not connect to[ {missed}][ at {addresses:3}], {count:time}, and nothing follows. It sent "
    "no markers there meanwhile: transactions with data there[ {perhaps}] stay in PrepareCommit or PrepareAbort, and "
    "their records are hidden from read_committed readers.",
    steps=(
        step("Connections could not be made", "its client for markers; no line about success follows", cites="lines"),
    ),
    considered=(
        left_open(
            "stuck_prepare",
            "these lines name no transaction",
            decided_by="PrepareCommit or PrepareAbort in describe of the ids that wait",
        ),
        left_open(
            "a connection that was made moments later",
            "this text ends with the attempts",
            decided_by="the lines behind these in the same server.log",
        ),
    ),
    remedies=(
        remedy(
            "Compare[ {addresses:3}] with where[ {missed}] listen now. If they listen there, look at the network "
            "between the brokers",
            "operator",
        ),
        remedy(
            "If the addresses are old ones (pods got new ones), restart this broker: it looks them up again. Brokers "
            "2.1.0 look an address up only once; 2.1.1 and 2.2.0 mend that (KAFKA-7755)",
            "operator",
            cost="its partitions and coordinators move to other brokers for that time",
        ),
    ),
)
