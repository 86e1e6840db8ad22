"""Frameworks that a failure's own lines name, where no transactional.id and no client tells whose producer it was.

And whether a producer's own thread made a call, which no application did.

Source  StreamThread, RecordCollectorImpl, StreamsProducer (0.11 to 4.3); WorkerSourceTask (Connect); KafkaWriter,
        KafkaCommitter, FlinkKafkaProducer (Flink's connector 1.4 to 4.x).
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.histories.logs.line_owners import is_network_thread
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.regex import regex

_OWNERS = {
    "Kafka Streams": regex(r"kafka\.streams\.|\bStreamThread|\bStreamTask\b|\bRecordCollector|\bStreamsProducer\b"),
    "Kafka Connect": regex(r"kafka\.connect\.|\b(?:ExactlyOnce|Abstract)?WorkerSource(?:Task)?\b|\bWorkerTask\b"),
    "Flink": regex(r"apache\.flink\.|\bFlinkKafka\w+|\bKafka(?:Writer|Committer)\b|\bTwoPhaseCommitSinkFunction\b"),
}
"""Frameworks, and what stands in names of their loggers, threads, calls and exceptions."""

OF_THREAD = ".producer.internals.Sender"
"""The logger of a Java producer's thread (0.11 to 4.3)."""


def owner_in_lines(logs: LogModel, rows: Iterable[int]) -> str | None:
    """Return the framework that lines name in their logger, their thread, or the exceptions and calls below them."""
    words = [word for row in rows for word in _names(logs, row)]
    return next((name for name, pattern in _OWNERS.items() if any(pattern.search(word) for word in words)), None)


def _names(logs: LogModel, row: int) -> list[str]:
    trace = logs.trace(row)
    chain = [link.exception for link in trace.chain] if trace is not None else []
    calls = list(trace.calls) if trace is not None else []
    return [logs.string(row, "logger") or "", logs.string(row, "thread") or "", *chain, *calls]


def is_of_network_thread(logs: LogModel, row: int) -> bool:
    """Whether what a line shows was called by a Java producer's own thread: by its name, its logger, or its frames."""
    if is_network_thread(logs.string(row, "thread") or "") or (logs.string(row, "logger") or "").endswith(OF_THREAD):
        return True
    trace = logs.trace(row)
    calls = trace.calls if trace is not None else ()
    return any(call.startswith("Sender.run") for call in calls) and all("." in call for call in calls)
