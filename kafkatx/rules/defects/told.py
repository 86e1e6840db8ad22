"""Known defects as findings: one for each client and defect, told in one way whether a client or a broker has it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kafkatx.findings.client_lines import columns, producer_at, seen, times_of
from kafkatx.findings.known_defects import MetDefect, met_defects
from kafkatx.findings.rule import Case, Found
from kafkatx.findings.told_failures import FATAL, ToldFailure, told_failures
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, remedy, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import Text, pick
from kafkatx.words.values import ClientName, Count, NameList, Refs, facts

MOST_LINES = 8


@facts
class DefectFacts:
    """A defect that lines show; `release` is one that has it and is told, `fixed` are the first that do not have it.

    `affected` says which releases have it, `issue` is the id where its makers have one for it.
    """

    name: ClientName
    client: Bound[ActorWords] | None
    id: str
    issue: str | None
    others: NameList
    product: str
    release: str | None
    affected: str | None
    meaning: str
    advice: str
    fixed: NameList
    count: Count
    lines: Refs
    beside: Refs


def find_of(side: Side, kind: type[DefectFacts], model: CaptureModel) -> Found:
    """One case for each defect of this side that lines show surely enough."""
    for met in met_defects(model):
        if met.is_sure and met.defect.side == side.name:
            yield _case(model, kind, met)


def find_clients(kind: type[DefectFacts]) -> partial[Found]:
    """Return the finder of defects of client libraries."""
    return partial(find_of, Side.client, kind)


def find_brokers(kind: type[DefectFacts]) -> partial[Found]:
    """Return the finder of defects of brokers."""
    return partial(find_of, Side.broker, kind)


def _case(model: CaptureModel, kind: type[DefectFacts], met: MetDefect) -> Case:
    logs, rows, defect = model.logs, list(met.rows), met.defect
    failed = [told for told in told_failures(model) if not set(told.rows).isdisjoint(rows)]
    times = max(1, len(failed))
    since, until = times_of(logs, rows)
    name = client_name(met.client)
    return Case(
        facts=kind(
            name=name,
            client=seen(model, met.client),
            id=defect.id,
            issue=defect.id if defect.is_issue else None,
            others=NameList(defect.names),
            product=defect.product,
            release=met.release,
            affected=defect.affected,
            meaning=defect.meaning,
            advice=defect.remedy,
            fixed=NameList(defect.fixed),
            count=Count(times),
            lines=event_refs(model, rows, MOST_LINES),
            beside=event_refs(model, [row for row in met.beside if row not in met.rows], 4),
        ),
        verdict=Verdict.likely,
        severity=Severity.error if _is_fatal(model, met, failed) else Severity.warning,
        since=since,
        until=until,
        **columns(logs, name, [producer_at(met.client, rows[0])] * times, rows),
    )


def _is_fatal(model: CaptureModel, met: MetDefect, failed: Sequence[ToldFailure]) -> bool:
    """Whether a client could do nothing more, or a part of a broker stopped."""
    is_dead = any(model.logs.kind(row) is EventKind.to_fatal for row in met.rows)
    return is_dead or any(told.category == FATAL or told.is_grave for told in failed)


def words_of(kind: type[DefectFacts], title: Text, where: Text) -> Words[DefectFacts]:
    """Return the words about defects; `where` is who has to do something."""
    return Words(
        kind,
        who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
        title=title,
        summary=(
            "A known defect of {product}[ {release}] ({id}) is[ {perhaps}] behind ",
            pick("name.transactional_id", {None: "this failure"}, "what {name.transactional_id} met"),
            ": {meaning}.",
        ),
        actors=(included("client"),),
        steps=(
            step("What comes before it", cites="beside", needs="beside"),
            step(
                pick("count", {1: "The defect showed", 2: "The defect showed twice"}, "The defect showed {count:time}"),
                pick(
                    "release",
                    {None: "nothing else is known to make such lines"},
                    "release {release} has it, and this is how it shows",
                ),
                cites="lines",
            ),
        ),
        considered=(
            left_open(
                "another cause of the same lines",
                "lines show the defect, not the state of the library behind them",
                decided_by=pick(
                    "fixed",
                    {(): "the makers of {product}, by the whole log[ ({issue})]"},
                    "whether it comes back with a release that does not have the defect ({fixed:3})",
                ),
            ),
        ),
        remedies=(
            remedy("{advice}", where),
            remedy("Upgrade {product}: {fixed} and later do not have the defect", where, needs="fixed"),
            remedy("No release is known that does not have it[: follow {issue}]", where, unless="fixed"),
        ),
    )
