"""Files that say who wrote a data directory: meta.properties, partition.metadata, .kafka_cleanshutdown.

Text      meta.properties: Java properties (`#` and `!` comments, `key=value`, `:` and blanks separate too, backslash
          escapes). partition.metadata: `version: 0`, `topic_id: <22 characters>`, no final newline.
          .kafka_cleanshutdown: empty, or JSON {"version":0,"brokerEpoch":N}. quorum-state is known by its name only.
Versions  meta.properties 0 (ZooKeeper: broker.id; cluster.id only since 2.4; directory.id possible during migration)
          and 1 (KRaft, 2.8+: node.id, cluster.id; directory.id since 3.7). partition.metadata 0 since 2.8. The clean
          shutdown file has content since 3.7.
Meaning   directories with one cluster.id belong together; broker.id and node.id are the same thing. The clean shutdown
          file is deleted at the next start: its presence means "stopped cleanly and not started since".
Limits    absent is None. Other keys are not read.
Source    MetaProperties.java, PartitionMetadataFile.java, CleanShutdownFileHandler.java (Kafka 0.11 to 4.3); KIP-631,
          KIP-516, KIP-858, KIP-966.
"""

from __future__ import annotations

import json
import re

from kafkatx.formats.text_problem import TextProblem, problem, whole_number
from kafkatx.formats.uuid_text import is_uuid
from kafkatx.terms.java_text import property_of
from kafkatx.terms.records import dataclass

META_PROPERTIES = "meta.properties"
PARTITION_METADATA = "partition.metadata"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
QUORUM_STATE = "quorum-state"

_NUMBERS = ("version", "broker.id", "node.id")


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """Identity of a data directory; `broker_id` is broker.id or node.id."""

    version: int | None = None
    broker_id: int | None = None
    cluster_id: str | None = None
    problems: tuple[TextProblem, ...] = ()


def parse_meta_properties(text: str) -> MetaProperties:
    """Read a meta.properties of version 0 or 1; never raises."""
    lines = _properties(text)
    values = {key: value for _, key, value in lines}
    numbers = {key: whole_number(values[key], 32) for key in _NUMBERS if key in values}
    problems = [problem(line, f"a number as {key}", value) for line, key, value in lines if numbers.get(key, 0) is None]
    if "version" not in values:
        problems.append(problem(1, "version=0 or version=1", "no version"))
    return MetaProperties(
        version=numbers.get("version"),
        broker_id=numbers.get("node.id", numbers.get("broker.id")),
        cluster_id=values.get("cluster.id") or None,
        problems=tuple(problems),
    )


def partition_metadata_problems(text: str) -> tuple[TextProblem, ...]:
    """Return what is wrong with a partition.metadata; never raises."""
    lines = text.removesuffix("\n").split("\n")
    if lines[0].split() != ["version:", "0"]:
        return (problem(1, "version: 0", lines[0]),)
    words = lines[1].split() if len(lines) > 1 else []
    if len(words) != 2 or words[0] != "topic_id:" or not is_uuid(words[1]):
        return (problem(2, "topic_id: and 22 characters", "".join(lines[1:2])),)
    return ()


def clean_shutdown_problems(text: str) -> tuple[TextProblem, ...]:
    """Return what is wrong with a .kafka_cleanshutdown of any release; never raises."""
    try:
        content = json.loads(text) if text.strip() else {"version": 0}
    except (ValueError, RecursionError):  # a nest too deep for the parser is no object either
        content = None
    is_known = isinstance(content, dict) and content.get("version") == 0
    return () if is_known else (problem(1, "nothing, or JSON of version 0", text),)


def _properties(text: str) -> list[tuple[int, str, str]]:
    """Return (line, key, value) of Java properties. Lines are not continued: Kafka writes none that are."""
    found = []
    for number, raw in enumerate(re.split("\r\n|\n|\r", text), 1):
        line = raw.strip(" \t\f")
        if line and line[0] not in "#!":
            found.append((number, *property_of(line)))
    return found
