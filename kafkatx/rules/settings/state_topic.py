"""__transaction_state with another number of partitions than before: coordinators refuse to write to it.

The partition of an id, and with it its coordinator, is the hash of the id modulo that number. Who raises it takes all
ids away from their states; so a coordinator that sees another number than the one it began with writes nothing more.

Source  TransactionStateManager.validateTransactionTopicPartitionCountIsStable (0.11 to 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import times_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.refusals import resized_in
from kafkatx.words.explanation import Words, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, Refs, facts


@facts
class ResizedFacts:
    """A state topic whose number of partitions was changed, as coordinators say."""

    before: int
    after: int
    count: Count
    lines: Refs


def resized_state_topic(model: CaptureModel) -> Iterator[Case]:
    """One case where a coordinator met another number of partitions."""
    logs = model.logs
    rows = logs.of_kind(EventKind.state_append_failed).tolist()
    told = {row: found for row in rows if (found := resized_in(logs.words(row))) is not None}
    if told:
        since, until = times_of(logs, list(told))
        before, after = list(told.values())[-1]
        yield Case(
            facts=ResizedFacts(before, after, Count(len(told)), event_refs(model, list(told), 3)),
            verdict=Verdict.proved,
            severity=Severity.error,
            since=since,
            until=until,
            count=len(told),
        )


RESIZED_WORDS = Words(
    ResizedFacts,
    who="the brokers",
    title="__transaction_state has another number of partitions",
    summary="The number of partitions of __transaction_state was changed from {before} to {after}. Its coordinators "
    "refuse to write to it: ids now belong to other partitions than those that hold their states.",
    steps=(
        step(
            "A coordinator refused to write, {count:time}", "its line names both numbers of partitions", cites="lines"
        ),
    ),
    remedies=(
        remedy(
            text="Partitions can't be taken away again. Stop all transactional producers, let their transactions end, "
            "delete __transaction_state, and restart the brokers with transaction.state.log.num.partitions as before. "
            "Then all ids begin anew",
            where="operator",
            config="transaction.state.log.num.partitions",
            cost="the states of all ids; transactions that are open then have to be aborted by hand",
        ),
    ),
)
