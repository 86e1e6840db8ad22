"""Producer ids were given out a second time: two producers may have the same one.

Mechanism    Brokers take producer ids in blocks of 1000, each once. A restored metadata log, a migration from
             ZooKeeper, or merged clusters can give a block out again. Two producers with one id refuse each other's
             sequences and epochs wherever they write to the same partition.
Evidence     the broker's "Producer ID block is not monotonic with current block"; "Next Producer ID from replayed
             record ... is not greater" of a controller.
Against      a new producer id of the same transactional.id, which is a rotation or an expiry.
Look-alikes  transactional_id_expired, producer_epoch_exhausted (a new producer id for one id); evidence of two
             clusters.
Remedy       upgrade the brokers and controllers; restart producers with ids of that block, so that they get new ones.
Source       ProducerIdManager, RPCProducerIdManager, ProducerIdControlManager (3.0 to 4.3); KAFKA-15552.
"""

from __future__ import annotations

from kafkatx.findings.refused_writes import RefusedWrites, by_producer, case_of
from kafkatx.findings.rule import Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, step


def find(model: CaptureModel) -> Found:
    """One case for all lines that tell of a block that went backwards."""
    logs = model.logs
    for subject, mine in by_producer(logs, logs.of_kind(EventKind.ids_went_back).tolist()):
        yield case_of(model, subject, mine, Verdict.likely, Severity.error, by_broker=True)


WORDS = Words(
    RefusedWrites,
    title="producer ids given out twice",
    summary="A block of producer ids was given out that lies below the one in use:[ {perhaps}] two producers have the "
    "same id, and refuse each other where they meet.",
    steps=(step("The broker, or the controller, met a block that it had passed", cites="lines"),),
    considered=(
        left_open(
            "a block that nobody took before",
            "the line alone does not tell who has ids of that block",
            decided_by="producer ids of that block in __transaction_state and in the logs of data",
        ),
    ),
    remedies=(
        remedy(
            "Find out whether the metadata log was restored or migrated, and upgrade controllers and brokers",
            "operator",
        ),
        remedy("Restart producers whose ids lie in that block, so that they get new ones", "application"),
    ),
)

RULE = Rule(find=find, words=(WORDS,), depth=1)
