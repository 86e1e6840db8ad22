"""A defect of a broker, which its makers know, is behind a failure.

Mechanism    A broker breaks a promise of the protocol: its coordinator answers what it must not answer, leaves a
             transaction undone, or throws where nothing was wrong. So do releases of Kafka, and more often other
             products that speak its protocol.
Evidence     lines that only this defect makes, or such that fit it in a release that has it, as the text tells.
Against      a release outside of those that have it.
Look-alikes  coordinator_unavailable, stuck_prepare, inconsistent_transaction_state (what follows of it, whatever the
             reason); log_directory_failed (a disk, not the program); client_bug.
Remedy       the release without the defect; until then what its makers advise.
Source       terms/catalogue/known_defects.tsv: issues of Apache Kafka, Redpanda, KoP and others.
"""

from __future__ import annotations

from kafkatx.findings.conditions import same_id_and_time
from kafkatx.findings.rule import Rule
from kafkatx.rules.defects.told import DefectFacts, find_brokers, words_of
from kafkatx.terms.events import Side
from kafkatx.words.values import facts


@facts
class Facts(DefectFacts):
    """A defect of a broker that lines show."""


WORDS = words_of(Facts, "a known defect of the broker: {product}[ {release}]", "broker")

RULE = Rule(
    find=find_brokers(Facts),
    words=(WORDS,),
    depth=1,
    causes=tuple(
        (rule, same_id_and_time) for rule in ("stuck_prepare", "coordinator_unavailable", "hanging_transaction")
    ),
    decided_by=(Side.client, Side.broker),
)
