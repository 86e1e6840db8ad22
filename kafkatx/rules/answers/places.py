"""Where an answer of a tool is about."""

from __future__ import annotations

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.topics import UNNAMED
from kafkatx.words.values import TopicPartition


def place_of(logs: LogModel, row: int) -> TopicPartition:
    """The partition of an event; -1 where the answer does not name it."""
    topic, partition = logs.string(row, "topic"), logs.number(row, "partition")
    return TopicPartition(topic or UNNAMED, -1 if partition is None or topic is None else partition)
