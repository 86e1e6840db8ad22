"""A defect of a client library, which its makers know, is behind a failure.

Mechanism    A library goes into a state of its own that it must not enter, counts or orders batches wrongly, takes an
             answer that has to be tried again for fatal, or asks for what no broker can do. Its makers have an issue
             for it, and mostly a release without it.
Evidence     lines that only this defect makes (an assertion, an internal exception, frames of the library's own
             thread), or such that fit it in a release that has it, as the text tells; sequences that go on in other
             partitions under each epoch that the client raised.
Against      a release outside of those that have it; a line of its own words in prose.
Look-alikes  api_misuse (the application made the call, not the library's own thread); fenced_by_new_instance (another
             instance exists); sequence_gap (a leader lost batches that it had acknowledged); shared_producer.
Remedy       the release without the defect; until then what the library's makers advise.
Source       terms/catalogue/known_defects.tsv: issues and changelogs of Apache Kafka, librdkafka, sarama, KafkaJS,
             aiokafka, kafka-python, franz-go, Flink and others; `kafkatx explain KAFKA-14830`.
"""

from __future__ import annotations

from kafkatx.findings.conditions import same_id_and_time
from kafkatx.findings.rule import Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.rules.defects.epochs import COUNTED_ON_WORDS, counted_on
from kafkatx.rules.defects.told import DefectFacts, find_clients, words_of
from kafkatx.terms.events import Side
from kafkatx.words.values import facts


@facts
class Facts(DefectFacts):
    """A defect of a client library that lines show."""


def find(model: CaptureModel) -> Found:
    """One case for each defect that lines show, known by its makers or by what it does."""
    yield from find_clients(Facts)(model)
    yield from counted_on(model)


WORDS = words_of(Facts, "a known defect of {product}[ {release}]", "application")

RULE = Rule(
    find=find,
    words=(WORDS, COUNTED_ON_WORDS),
    depth=2,
    causes=tuple(
        (rule, same_id_and_time)
        for rule in ("abort_after_fatal_error", "silent_failure", "unresolved_sequence", "sequence_gap", "api_misuse")
    ),
    decided_by=(Side.client,),
)
