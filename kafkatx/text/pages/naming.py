"""Which file a stretch of a page was printed from, as the page itself says: header, quoted command, prompt, heading.

Paths     of any system, as the tool or a person wrote them; the folder above a segment file names topic and partition.
Commands  `--files a,b` of kafka-dump-log, `--topic`, `--partition` of the console consumer; options may stand on
          lines of their own behind a backslash. Several files say nothing about which one a line is of.
Headings  a short line that names one partition (`orders-0`) or one segment file, next to what it names. Names that
          merely look so (`broker-1`, `KAFKA-9293`) are none.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kafkatx.formats.file_names import parse_metadata_snapshot_file, parse_partition_folder, parse_segment_file
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.pages.part import PartKind

LONGEST_HEADING = 160
LONGEST_COMMAND = 4_096
_TOOL = regex(
    r"kafka-dump-log|DumpLogSegments(?![$.])|kafka-console-consumer|ConsoleConsumer(?![$.)])|kafka-transactions"
    r"|--files[ =]|\bkafka-(?:consumer-groups|topics|get-offsets|log-dirs)(?:\.sh|\.bat)? -"
    r"|\b(?:ConsumerGroupCommand|TopicCommand|GetOffsetShell) -|\b(?:kcat|kafkacat) -"
    r"|\brpk (?:cluster txn|group|topic) "
)
_FILES = regex(r"--files?[ =]+[\"']?([^\s\"']+)")
_TOPIC = regex(r"(?:--topic[ =]+|\s-t )[\"']?([A-Za-z0-9._-]+)")
_PARTITION = regex(r"(?:--partition[ =]+|\s-p )[\"']?(\d{1,9})")
_SPLIT = regex(r"[/\\]+")
_NAMED = regex(r"(?<![\w.-])([A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?-(?:0|[1-9]\d{0,5}))(?![\w-])(?!\.\d)")
_FILE = regex(r"[\w./\\:-]*?\b\d{20}\.(?:log|index|timeindex|txnindex|snapshot)\b")
_WORDS = regex(r"topic[\s:=`'\"]+([A-Za-z0-9._-]+)[`'\",;\s]+(?:and\s+)?partition[\s:=#`'\"]+(\d{1,6})", re.IGNORECASE)
_NO_TOPIC = regex(
    r"(?:broker|node|producer|consumer|client|kafka|clients|version|incident|case|step|server|host|thread|task|worker|"
    r"release|instance|member|attempt|controller|zookeeper|zk|jdk|java|utf|iso|rc|part|page|section|figure|example)-\d+",
    re.IGNORECASE,
)
_TICKET = regex(r"[A-Z]{2,12}-\d+")
_SAID = regex(
    r"^#{1,6} |^[`\"'*]{0,3}[\w.-]+-\d{1,6}[`\"'*]{0,3}[:\uff1a](?:\s|$)|^[=*_]{2}|[:\uff1a]\s*$"
    r"|\b(?:dump|partition|topic|log|segment|file|folder)s?\b",
    re.IGNORECASE,
)
KINDS = {
    "log": PartKind.DUMP_LOG,
    "index": PartKind.DUMP_INDEX,
    "timeindex": PartKind.DUMP_TIMEINDEX,
    "txnindex": PartKind.DUMP_TXNINDEX,
    "snapshot": PartKind.DUMP_SNAPSHOT,
    "checkpoint": PartKind.DUMP_METADATA_SNAPSHOT,
}


@dataclass(frozen=True, slots=True)
class NamedFile:
    """What a page says about the file that lines were printed from: nothing that it does not say.

    `named` is the path of a header. `kind` is told by the ending of the file's name. `command` is the command that was
    quoted above.
    """

    topic: str | None = None
    partition: int | None = None
    base_offset: int = -1
    named: str | None = None
    kind: PartKind | None = None
    command: str | None = None


UNKNOWN = NamedFile()


def origin_of_path(path: str) -> NamedFile:
    """Read a path as a tool or a person wrote it: its last component and the folder above."""
    *folders, name = _SPLIT.split(path.strip().strip("\"'`")) or [""]
    folder = parse_partition_folder(folders[-1]) if folders else None
    topic, partition = (folder.topic, folder.partition) if folder else (None, None)
    if segment := parse_segment_file(name):
        return NamedFile(topic, partition, segment.base_offset, kind=KINDS[segment.kind.value])
    if parse_metadata_snapshot_file(name) or name.endswith(".checkpoint"):
        return NamedFile("__cluster_metadata", 0, kind=PartKind.DUMP_METADATA_SNAPSHOT)
    kind = next((kind for ending, kind in KINDS.items() if name.endswith(f".{ending}")), None)
    if folder is None and kind is None and (folder := parse_partition_folder(name)):
        topic, partition = folder.topic, folder.partition
    return NamedFile(topic, partition, kind=kind)


def origin_of_header(path: str, before: NamedFile) -> NamedFile:
    """Read a `Dumping PATH` line; where the path has no folder, what stood above it may (the same file, a prompt)."""
    found = replace(origin_of_path(path), named=path.strip(), command=before.command)
    is_bare = found.topic is None and len(_SPLIT.split(path.strip())) == 1
    if is_bare and before.topic is not None and before.named is None and before.base_offset in (-1, found.base_offset):
        return replace(found, topic=before.topic, partition=before.partition)
    return found


def is_command(text: str) -> bool:
    """Whether a line calls one of Kafka's tools."""
    return _TOOL.search(text) is not None


def origin_of_command(text: str) -> NamedFile:
    """Read a quoted command, with the prompt before it; several files name none."""
    text = text[:LONGEST_COMMAND]
    if files := _FILES.findall(text):
        paths = [path for found in files for path in found.split(",") if path]
        origins = {replace(origin_of_path(path)) for path in paths}
        found = next(iter(origins)) if len(origins) == 1 else _common(origins)
        if found.topic is None and all(len(_SPLIT.split(path)) == 1 for path in paths):
            found = replace(_prompt(text), base_offset=found.base_offset, kind=found.kind)
        return replace(found, command=text)
    topic, partition = _TOPIC.search(text), _PARTITION.search(text)
    return NamedFile(topic[1] if topic else None, int(partition[1]) if partition else None, command=text)


def _common(origins: set[NamedFile]) -> NamedFile:
    """What several files have in common."""
    places = {(origin.topic, origin.partition) for origin in origins}
    topic, partition = next(iter(places)) if len(places) == 1 else (None, None)
    kinds = {origin.kind for origin in origins}
    return NamedFile(topic, partition, kind=kinds.pop() if len(kinds) == 1 else None)


def _prompt(text: str) -> NamedFile:
    """The partition folder that a prompt before a command stands in."""
    before = text[: found.start()] if (found := _TOOL.search(text)) else text
    names = [folder for name in re.split(r"[\s/\\\]:$#>~]+", before) if (folder := parse_partition_folder(name))]
    names = [folder for folder in names if not _NO_TOPIC.fullmatch(f"{folder.topic}-{folder.partition}")]
    return NamedFile(names[-1].topic, names[-1].partition) if names else UNKNOWN


def origin_of_heading(text: str) -> NamedFile | None:
    """Read a line above lines of a tool: the one partition or file that it names, None where it names none."""
    text = text.strip().replace("\\_", "_")
    if not text or len(text) > LONGEST_HEADING:
        return None
    if files := set(_FILE.findall(text)):
        found = origin_of_path(files.pop())
        return found if not files and found.topic is not None else _named(text, found)
    return _named(text, UNKNOWN)


def _named(text: str, file: NamedFile) -> NamedFile | None:
    names = {name for name in _NAMED.findall(text) if not _NO_TOPIC.fullmatch(name) and not _TICKET.fullmatch(name)}
    folder = parse_partition_folder(names.pop()) if len(names) == 1 else None
    if folder is not None and (_SAID.search(text) or len(text.split()) <= 3):
        return replace(file, topic=folder.topic, partition=folder.partition)
    if found := _WORDS.search(text):
        return replace(file, topic=found[1], partition=int(found[2]))
    return None if file is UNKNOWN else file
