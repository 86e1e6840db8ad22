"""Frameworks that a failure's own lines name, where no transactional.id and no client tells whose producer it was.

Source  StreamThread, RecordCollectorImpl, StreamsProducer (0.11 to 4.3); WorkerSourceTask (Connect); KafkaWriter,
        KafkaCommitter, FlinkKafkaProducer (Flink's connector 1.4 to 4.x).
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.regex import regex

_OWNERS = {
    "Kafka Streams": regex(r"kafka\.streams\.|\bStreamThread|\bStreamTask\b|\bRecordCollector|\bStreamsProducer\b"),
    "Kafka Connect": regex(r"kafka\.connect\.|\b(?:ExactlyOnce|Abstract)?WorkerSource(?:Task)?\b|\bWorkerTask\b"),
    "Flink": regex(r"apache\.flink\.|\bFlinkKafka\w+|\bKafka(?:Writer|Committer)\b|\bTwoPhaseCommitSinkFunction\b"),
}
"""Frameworks, and what stands in names of their loggers, threads, calls and exceptions."""


def owner_in_lines(logs: LogModel, rows: Iterable[int]) -> str | None:
    """Return the framework that lines name in their logger, their thread, or the exceptions and calls below them."""
    words = [word for row in rows for word in _names(logs, row)]
    return next((name for name, pattern in _OWNERS.items() if any(pattern.search(word) for word in words)), None)


def _names(logs: LogModel, row: int) -> list[str]:
    trace = logs.trace(row)
    chain = [link.exception for link in trace.chain] if trace is not None else []
    calls = list(trace.calls) if trace is not None else []
    return [logs.string(row, "logger") or "", logs.string(row, "thread") or "", *chain, *calls]
