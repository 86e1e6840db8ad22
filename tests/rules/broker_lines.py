"""Lines of brokers and clients for the rules that they decide, as the programs print them."""

from pathlib import Path

from kafkatx import diagnose

APPEND = (
    "[2024-03-01 10:00:{second:02d},000] ERROR [ReplicaManager broker=1] Error processing append operation on "
    "partition orders-3 (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.{error}\n"
)
OUT_OF_ORDER = (
    "OutOfOrderSequenceException: Out of order sequence number for producer 9 at offset 1840 in partition orders-3: "
    "{incoming} (incoming seq. number), 61 (current end sequence number)"
)


def appended(error: str, second: int = 0) -> str:
    """An append that a leader refused."""
    return APPEND.format(error=error, second=second)


def found(folder: Path, rule: str, *lines: str):
    """The findings of a rule over a log of these lines."""
    (folder / "server.log").write_text("".join(lines))
    return [one.finding for one in diagnose([folder]).findings if one.finding.rule == rule]
