"""Transactions of completed checkpoints that Flink could not commit, since the coordinator had aborted them.

Flink's committer asks for a commit when a checkpoint is complete: from then on the job never writes these records
again. Where the coordinator aborted the transaction before, they are lost, and the committer's line says of which one.
Source     KafkaCommitter and KafkaCommittable (flink-connector-kafka 1.14 to 3.4), TwoPhaseCommitSinkFunction.
"""

from __future__ import annotations

from kafkatx.findings.end_groups import EndGroup
from kafkatx.histories.ended import TransactionEnd
from kafkatx.terms.events import EventKind
from kafkatx.words.facts import data
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Data, Refs

COMMIT = "commitTransaction"


def failed_commits(group: EndGroup) -> tuple[Data, Refs]:
    """What was aborted of transactions that a committer could not commit, and its lines: by id, producer and epoch."""
    model, logs = group.model, group.model.logs
    lines: dict[tuple[int | None, int | None], list[int]] = {}
    for line in logs.of_kind(EventKind.fenced, EventKind.failure).tolist():
        if logs.string(line, "transactional_id") == group.transactional_id and logs.string(line, "api") == COMMIT:
            told = logs.number(line, "producer_id"), logs.number(line, "producer_epoch")
            lines.setdefault(told, []).append(line)
    ends = [TransactionEnd(model, number) for number in group.numbers]
    lost = [(end, lines.get((int(end.row["producer_id"]), int(end.row["producer_epoch"])), [])) for end in ends]
    spans = [span for end, found in lost if found for span in end.aborted_data]
    return data(model, spans), event_refs(model, (line for _, found in lost for line in found))
