"""Names that the evidence shows: by folders, rows, events and settings, and by where they stand in lines of logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.item import Kind
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.kernels.distinct import distinct
from kafkatx.local.redacting.internal_records import CommitKey
from kafkatx.local.redacting.vocabulary import is_common
from kafkatx.segments.records import RecordWalk
from kafkatx.sources.files import OpenFile
from kafkatx.terms.catalogue.setting_names import kafka_name
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.topics import CONSUMER_OFFSETS, INTERNAL, UNNAMED

_NAME = r"([A-Za-z0-9._-]{1,249})"
_VALUE = r"[\"']?([^\s,;\]\[(){}<>\"']{1,249})"
_SCANS = (
    ("topics", regex(rf"\btopics?(?:=|: ?| ')[\"'\[]*{_NAME}")),
    ("topics", regex(rf"\b(?:[Pp]artitions?|TopicPartition|topic-partition)[=: (\[{{']+{_NAME}-\d+(?![\w.-])")),
    ("topics", regex(rf"\blog for {_NAME}-\d+(?![\w.-])")),
    ("clients", regex(rf"\b(?:clientId|client_id|client\.id|ClientId)\s?[=:]\s?{_VALUE}")),
    ("clients", regex(r"-thread \| ([^\s\](){}<>,;\"']{1,249})")),
    ("groups", regex(rf"\b(?:groupId|group_id|group\.id|GroupId)\s?[=:]\s?{_VALUE}")),
    ("ids", regex(rf"\b(?:[tT]ransactionalId|transactional_id|transactional\.id)\s?[=: ]\s?{_VALUE}")),
    ("hosts", regex(r"(?:://|@)([A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?)(?=:\d)")),
    ("hosts", regex(r"\bhost(?:name)?\s?[=:]\s?['\"]?([A-Za-z0-9][A-Za-z0-9.-]{0,250})")),
    ("hosts", regex(r"(?<![\w.-])([A-Za-z0-9][A-Za-z0-9.-]{0,250}):\d{2,5} \(id: ")),
    ("hosts", regex(r"(?<![\w.-])([A-Za-z0-9][A-Za-z0-9.-]{0,250})/\d{1,3}(?:\.\d{1,3}){3}:\d")),
    ("hosts", regex(r"(?<![\w.-])((?:[A-Za-z0-9-]{1,63}\.){2,8}[A-Za-z]{2,24}):\d{2,5}(?![\d)])")),
)
"""Where a name stands in a line, by the kind of the name."""
_OF_SETTINGS = {
    "transactional.id": "ids",
    "client.id": "clients",
    "group.id": "groups",
    "application.id": "groups",
    "transaction-id-prefix": "groups",
    "group.instance.id": "clients",
    "topic": "topics",
    "topics": "topics",
}
_ADDRESSES = regex(r"(?:^|[,\s\[]|//|@)([A-Za-z0-9][A-Za-z0-9.-]{0,250}):\d{2,5}")
_OF_ADDRESSES = regex(r"bootstrap|listeners|voters|zookeeper\.connect|broker\.list|host\.name|application\.server")
_DEFAULTS = regex(
    r"(?:producer|consumer|adminclient|admin)-\d+|rdkafka|kgo|sarama|console-(?:producer|consumer)"
    r"|aiokafka-[\d.]+|kafka-python-[\w.-]+|\$\{.*|null|none|true|false|\d+",
    re.IGNORECASE,
)
"""Names that libraries give, which are nobody's."""
_OBJECT = regex(r"#(?:producer|consumer)-\d+$")
LOCAL = regex(r"localhost|127\.\d+\.\d+\.\d+|0\.\d+\.\d+\.\d+|[\d.:]+")
"""Hosts that say nothing, and addresses, which are found where they stand."""


@dataclass(slots=True)
class NamesMet:
    """Names by kind."""

    topics: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    clients: set[str] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)

    def add(self, kind: str, name: str | None) -> None:
        """Add a name, unless everybody has it; of librdkafka's NAME#producer-1 what stands before its number."""
        name = name and _OBJECT.sub("", name)
        if not name or _DEFAULTS.fullmatch(name) or (kind == "topics" and (name in INTERNAL or name == UNNAMED)):
            return
        if kind != "hosts" or not LOCAL.fullmatch(name):
            getattr(self, kind).add(name)

    def learn(self, capture: Capture, model: CaptureModel) -> None:
        """Add what files, rows and lines of a capture show."""
        for name in model.labels.transactional_ids:
            self.add("ids", name)
        for topic, _ in model.labels.topic_partitions:
            self.add("topics", topic)
        for directory in capture.directories:
            for item in directory.items:
                self.add("topics", item.topic)
            for offsets in (directory.high_watermarks, directory.recovery_points, directory.log_starts):
                for topic, _ in offsets:
                    self.add("topics", topic)
        self._learn_logs(model)
        self._learn_groups(capture)

    def _learn_logs(self, model: CaptureModel) -> None:
        columns = {"topic": "topics", "transactional_id": "ids", "client_id": "clients", "group": "groups"}
        for column, kind in columns.items():
            codes = distinct(model.logs.events[f"{column}_code"])
            for code in codes[codes >= 0].tolist():
                self.add(kind, model.logs.facts.strings[code])
        for setting in model.logs.facts.settings:
            name = kafka_name(setting.name) or setting.name
            if setting.value and name in _OF_SETTINGS:
                self.add(_OF_SETTINGS[name], setting.value)
            elif setting.value and _OF_ADDRESSES.search(name):
                for found in _ADDRESSES.finditer(setting.value):
                    self.add("hosts", found[1])

    def _learn_groups(self, capture: Capture) -> None:
        """Groups and topics of commits."""
        for directory in capture.directories:
            for item in directory.items:
                if item.topic == CONSUMER_OFFSETS and item.kind is Kind.LOG and item.part is None and not item.left_out:
                    for key in _keys(item.path, item.base_offset):
                        self._learn_key(key)

    def _learn_key(self, key: bytes) -> None:
        if key[:2] in (b"\0\0", b"\0\1"):
            try:
                fields = CommitKey.parse(key)
            except ValueError:
                return
            self.add("groups", fields.group)
            self.add("topics", fields.topic)
        elif len(key) > 4:
            length = int.from_bytes(key[2:4], "big")
            self.add("groups", key[4 : 4 + length].decode("utf-8", "replace"))

    def learn_text(self, path: Path) -> None:
        """Add names by where they stand in the lines of a text; words that programs print are none."""
        with path.open(encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                for kind, scan in _SCANS:
                    for found in scan.finditer(line):
                        name = found[1].rstrip(".:")
                        if not is_common(name):
                            self.add(kind, name)


def _keys(path: str, base_offset: int) -> Iterator[bytes]:
    """Keys of a segment's records; what can't be read has none."""
    try:
        with OpenFile(path) as file:
            walk = RecordWalk(file, check=CHECK_NONE, first_offset=max(0, base_offset))
            for chunk in walk.record_chunks():
                for row in chunk.records:
                    start, length = int(row["key_start"]), int(row["key_length"])
                    if length >= 0:
                        yield bytes(chunk.data[start : start + length])
    except OSError:
        return


def met(told: Iterable[tuple[Capture, CaptureModel]], texts: Iterable[Path]) -> NamesMet:
    """Gather names of captures and of texts."""
    names = NamesMet()
    for capture, model in told:
        names.learn(capture, model)
    for path in texts:
        names.learn_text(path)
    return names
