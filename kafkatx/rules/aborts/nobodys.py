"""Aborted transactions and data whose author the evidence does not tell."""

from __future__ import annotations

from kafkatx.findings.rule import Found
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.kernels.distinct import distinct
from kafkatx.words.explanation import Phrase, gap
from kafkatx.words.facts import topic_partition
from kafkatx.words.template import pick
from kafkatx.words.values import Count, NameList, TopicPartition, facts


@facts
class Nobodys:
    """Aborted transactions whose author the evidence does not tell."""

    count: Count
    id: str


@facts
class NobodysData:
    """The same where there are only data."""

    count: Count
    where: TopicPartition
    elsewhere: bool
    producers: NameList


NOBODYS = Phrase(
    Nobodys,
    gap(
        "{count:aborted transaction} of {id}",
        "the first records of the transaction, or a time by one clock: who aborted it",
    ),
)
NOBODYS_DATA = Phrase(
    NobodysData,
    gap(
        (
            "{count:aborted transaction} in {where}",
            pick("elsewhere", {True: " and elsewhere"}, ""),
            " of producer id {producers:3}",
        ),
        "the records of that time in __transaction_state: who aborted them",
    ),
)


def nobodys_data(model: CaptureModel) -> Found:
    """One entry for all aborted data whose author the evidence does not tell."""
    ends = model.ends
    spans = model.spans[ends.spans[ends.ended(EndedBy.unknown, ToldBy.data) - ends.row_count]]
    if len(spans):
        partitions = spans["partition_code"]
        producers = NameList(str(number) for number in distinct(spans["producer_id"]).tolist())
        where = topic_partition(model, int(partitions[0]))
        yield NOBODYS_DATA.of(NobodysData(Count(len(spans)), where, len(distinct(partitions)) > 1, producers))
