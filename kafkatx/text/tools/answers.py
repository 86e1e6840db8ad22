"""What tools answer about partitions, groups and transactions, as events: facts of a moment that they do not print.

Tables    producers of a partition (describe-producers of kafka-transactions.sh, rpk and kcl, a dumped producer
          snapshot), hanging transactions (find-hanging), positions of groups (kafka-consumer-groups, rpk group
          describe).
Lines     partitions (kafka-topics --describe), positions of kcat (`% Reached end of topic`, -Q), what a console
          consumer read by which isolation level, a transactional.id that the coordinator does not know, metrics,
          what kcl found of a stuck partition, last stable offsets beside ends (text/printed/stable_offsets.py).
Time      `number` of an open transaction is how long its producer has been silent against the newest write that the
          same answer shows: no tool prints when it was called, but other producers go on writing.
Source    TransactionsCommand (3.0 to 4.3), ConsumerGroupCommand, TopicCommand (0.11 to 4.3), rpk (23.1+), kcat 1.7;
          ReplicaManager's and Partition's metrics (KIP-664).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kafkatx.kernels.rows import EVENT
from kafkatx.sources.files import OpenFile
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.regex import regex
from kafkatx.text.dump.entries import producer_entries
from kafkatx.text.events import LogFacts, LogSource
from kafkatx.text.lines import Line, lines
from kafkatx.text.logs.filling import COLUMNS, LARGEST, NUMBERS, Row, empty_row
from kafkatx.text.logs.strings import Strings
from kafkatx.text.pages.part import PartKind, TextPart
from kafkatx.text.printed.line_kinds import producer_cells
from kafkatx.text.printed.listed_objects import PRODUCERS
from kafkatx.text.printed.pasted import undecorated, unescaped
from kafkatx.text.printed.stable_offsets import offset_field, stable_offsets, tells_stable_offset
from kafkatx.text.prose.statements import statements_on_page
from kafkatx.text.tools.tables import TableRow, object_rows, table_rows, time_told

_OF_KAFKA = frozenset({"producerid", "producerepoch", "currenttransactionstartoffset"})
_BEGINS = ("currenttransactionstartoffset", "currenttxnstartoffset", "txnstartoffset", "transactionstartoffset")
"""What tools call the offset where a producer's open transaction begins."""
_HANGING = frozenset({"topic", "partition", "producerid", "startoffset"})
_UNITS = {"min": 60_000, "s": 1_000}
_GROUPS = frozenset({"topic", "partition", "currentoffset", "logendoffset"})
_PARTITION = regex(
    r"Topic:\s?(?P<topic>\S+)\s+Partition:\s?(?P<partition>\d{1,9})\s+Leader:\s?(?P<leader>none|-?\d{1,9})"
    r"(?:.*?\bReplicas:\s?(?P<replicas>[\d,]+))?(?:.*?\bIsr:\s?(?P<isr>[\d,]*))?"
)
UNDER_MIN_ISR = "--under-min-isr-partitions"
_LEAST = regex(r"Topic:\s?(?P<topic>\S+)\s.*\bmin\.insync\.replicas=(?P<number>\d{1,3})\b")
_END = regex(r"% Reached end of topic (?P<topic>\S+) \[(?P<partition>\d{1,9})\] at offset (?P<offset>\d{1,18})")
_QUERIED = regex(r"(?P<topic>\S{1,249}) \[(?P<partition>\d{1,9})\] offset (?P<offset>\d{1,18})$")
_READ = regex(r"Processed a total of (?P<number>\d{1,18}) messages")
_UNKNOWN_ID = regex(
    r"Failed to describe transaction state of transactional-id [`'\"](?P<id>.{1,1000}?)[`'\"]: "
    r"The transactionalId could not be found"
)
LAG, LATE = "LastStableOffsetLag", "PartitionsWithLateTransactionsCount"
_METRIC = regex(
    r"(?P<metric>(?i:Last_?Stable_?Offset_?Lag|Partitions_?With_?Late_?Transactions_?Count))(?![^\W_]).*?[\s=]"
    r"(?P<number>[\d.]+(?:[eE][+-]?\d+)?);?\s*$"
)
_METRICS = {name.casefold(): name for name in (LAG, LATE)}
"""Metrics by their letters alone: exporters print them in small ones, with lines between their words."""
_BEAN = regex(r"#?mbean = (?P<name>kafka\.\S+):$")
_VALUE = regex(r"Value = [\d.]{1,20};$")
"""How jmxterm prints an attribute: the name of its bean, then the value in a line of its own."""
_LABEL = {name: regex(rf"\b{name}=\"?([\w.-]+)") for name in ("topic", "partition")}
_ISOLATION = regex(r"read_(?:un)?committed")
_TO_THE_END = regex(r"\s-Q\b.*:-1\b")
LATEST, COMMITTED = "log end", "read_committed"
UNSTICK = "kcl admin txn unstick-lso"
STABLE, READ_UP_TO = "last stable offset", "last stable offset, where a reader stands"
_STUCK = regex(r"Found partition (?P<partition>\d{1,9}) stuck at offset (?P<offset>\d{1,18})\b")
_CAUSING = regex(r"Found causing producer ID and epoch (?P<id>\d{1,18})/(?P<epoch>\d{1,5})\b")
_STUCK_BY = regex(r"Found topic (?P<topic>\S{1,249}) stuck with transactional id (?P<id>\S.{0,999}?)\.?\s*$")


def answers(file: OpenFile, part: TextPart) -> LogFacts:
    """Return the events of a part that tools printed, in the order of their lines."""
    reader = _Reader(part)
    if part.kind is PartKind.DUMP_SNAPSHOT:
        reader.snapshot(file)
    else:
        reader.tables(file)
        for line in lines(file, part.position, part.end, part.line):
            reader.line(line)
    return reader.facts(file)


class _Reader:
    """Collects the events of one part."""

    def __init__(self, part: TextPart) -> None:
        self.part, self.strings = part, Strings()
        self.rows: list[Row] = []
        self.command = part.command or ""
        self.fields: dict[str, str] = {}
        self.least: dict[str, int] = {}
        self.bean = ""

    def facts(self, file: OpenFile) -> LogFacts:
        """Return what was collected."""
        rows = sorted(self.rows, key=lambda row: row[COLUMNS["position"]])
        events = np.array([tuple(row) for row in rows], EVENT) if rows else np.zeros(0, EVENT)
        events["source"] = 0
        size = self.part.end - self.part.position
        said = statements_on_page(file)
        source = LogSource(file.path, Side.unknown, 0, size, -1, -1, True, None, -1, "", statements=said)
        return LogFacts([source], events, self.strings.texts())

    def snapshot(self, file: OpenFile) -> None:
        """The open transactions of a dumped producer snapshot."""
        told = producer_entries(file, self.part)
        newest = int(told.rows["timestamp"].max()) if len(told.rows) else -1
        for entry, number, position in zip(told.rows, told.lines.tolist(), told.positions.tolist(), strict=True):
            if entry["open_since_offset"] >= 0:
                at = int(entry["timestamp"])
                self._add(
                    EventKind.transaction_open, number, position, topic=self.part.topic, partition=self.part.partition,
                    producer_id=int(entry["producer_id"]), producer_epoch=int(entry["producer_epoch"]),
                    other_epoch=int(entry["coordinator_epoch"]), offset=int(entry["open_since_offset"]),
                    number=newest - at if at >= 0 else -1, detail="producer snapshot",
                )  # fmt: skip

    def tables(self, file: OpenFile) -> None:
        """Rows of all tables."""
        producers = [*table_rows(file, self.part, _OF_KAFKA, *PRODUCERS), *object_rows(file, self.part, *PRODUCERS)]
        known = {row.line.number for row in producers}
        for line in lines(file, self.part.position, self.part.end, self.part.line):
            if line.number not in known and (cells := producer_cells(line.text)) is not None:
                producers.append(TableRow(cells, line))
        times = [_time_of(row.cells.get("lasttimestamp", "")) for row in producers]
        for row, at in zip(producers, times, strict=True):
            self._producer(row, max(times) - at if at >= 0 else -1)
        for row in table_rows(file, self.part, _HANGING):
            self._hanging(row)
        for row in table_rows(file, self.part, _GROUPS):
            self._group(row)

    def _producer(self, row: TableRow, silent_ms: int) -> None:
        cells = row.cells
        begin = max(_number(cells.get(name, "")) for name in _BEGINS)
        if begin < 0:
            return
        topic, partition = cells.get("topic") or self.part.topic, _number(cells.get("partition", ""))
        self._add(
            EventKind.transaction_open, row.line.number, row.line.position, topic=topic,
            partition=partition if partition >= 0 else self.part.partition,
            producer_id=_number(cells.get("producerid") or cells.get("id", "")),
            producer_epoch=_number(cells.get("producerepoch") or cells.get("epoch", "")),
            other_epoch=_number(cells.get("latestcoordinatorepoch") or cells.get("coordinatorepoch", "")), offset=begin,
            number=silent_ms, detail="describe-producers",
        )  # fmt: skip

    def _hanging(self, row: TableRow) -> None:
        cells = row.cells
        if min(_number(cells[name]) for name in ("partition", "producerid", "startoffset")) < 0:
            return
        lasted = [_number(cells.get(f"duration({unit})", "")) * ms for unit, ms in _UNITS.items()]
        self._add(
            EventKind.hanging_found, row.line.number, row.line.position, topic=cells["topic"],
            partition=_number(cells["partition"]), producer_id=_number(cells["producerid"]),
            producer_epoch=_number(cells.get("producerepoch", "")),
            other_epoch=_number(cells.get("coordinatorepoch", "")), offset=_number(cells["startoffset"]),
            number=max(-1, *lasted),
        )  # fmt: skip

    def _group(self, row: TableRow) -> None:
        cells = row.cells
        offset, end = _number(cells["currentoffset"]), _number(cells["logendoffset"])
        member = cells.get("consumerid", cells.get("memberid", ""))
        if _number(cells["partition"]) >= 0 <= offset and end >= 0:
            self._add(
                EventKind.position_told, row.line.number, row.line.position, group=cells.get("group"),
                topic=cells["topic"], partition=_number(cells["partition"]), offset=offset, number=end,
                detail="consumer group" if member not in ("", "-") else "consumer group without members",
            )  # fmt: skip

    def line(self, line: Line) -> None:
        """Take in a line that tells something by itself."""
        text = undecorated(unescaped(line.text) if "\\" in line.text else line.text).strip()
        place = line.number, line.position
        isolation = found[0] if (found := _ISOLATION.search(self.command)) else None
        if found := _PARTITION.match(text):
            self._described(found, *place)
        elif found := _LEAST.match(text):
            self.least[found["topic"]] = int(found["number"])
        elif found := _END.search(line.text):
            self._add(EventKind.position_told, *place, **_of(found), offset=_number(found["offset"]), detail=isolation)
        elif found := _QUERIED.match(text):
            detail = LATEST if _TO_THE_END.search(self.command) else None
            self._add(EventKind.position_told, *place, **_of(found), number=_number(found["offset"]), detail=detail)
        elif found := _READ.match(text):
            self._add(
                EventKind.records_read, *place, topic=self.part.topic, partition=self.part.partition,
                number=_number(found["number"]), detail=isolation,
            )  # fmt: skip
        elif found := _UNKNOWN_ID.match(text):
            self._add(EventKind.id_unknown, *place, transactional_id=found["id"])
        elif found := _STUCK.match(text):
            self._add(EventKind.transaction_open, *place, partition=_number(found["partition"]),
                      offset=_number(found["offset"]), topic=self.part.topic, detail=UNSTICK)  # fmt: skip
        elif (found := _CAUSING.match(text) or _STUCK_BY.match(text)) and self.rows:
            self._unstick(found)
        elif (field := offset_field(text)) is not None:
            self.fields |= dict([field])
            if {"hi_offset", "ls_offset"} <= self.fields.keys():
                self._stable(line, ", ".join(f"{name}: {value}" for name, value in self.fields.items()))
                self.fields = {}
        elif tells_stable_offset(text):
            self._stable(line, text)
        elif found := _BEAN.match(text):
            self.bean = found["name"]
        elif (found := _METRIC.search(self._of_bean(text))) and float(found["number"]) > 0:
            text = self._of_bean(text)
            topic, partition = (label[1] if (label := one.search(text)) else "" for one in _LABEL.values())
            self._add(
                EventKind.stable_offset_behind, *place, topic=topic, partition=_number(partition),
                number=int(float(found["number"])), detail=_METRICS[found["metric"].casefold().replace("_", "")],
            )  # fmt: skip

    def _described(self, found: re.Match[str], *place: int) -> None:
        """A partition as kafka-topics prints it, where it takes no writes."""
        if found["leader"] in ("none", "-1"):
            self._add(EventKind.leader_missing, *place, **_of(found), detail=found["isr"])
        elif self._has_too_few(found["topic"], found["isr"] or ""):
            replicas = len(found["replicas"].split(",")) if found["replicas"] else None
            least = self.least.get(found["topic"])
            self._add(
                EventKind.replicas_missing, *place, **_of(found), detail=found["isr"], number=replicas, offset=least
            )

    def _has_too_few(self, topic: str, in_sync: str) -> bool:
        """Whether a partition lacks replicas: the tool was asked for such ones, or prints the topic's setting above."""
        return UNDER_MIN_ISR in self.command or 0 < len(in_sync.split(",")) < self.least.get(topic, 0)

    def _of_bean(self, text: str) -> str:
        """A line with the name of the bean whose value it is, where it is only that."""
        return f"{self.bean} {text}" if self.bean and _VALUE.match(text) else text

    def _unstick(self, found: re.Match[str]) -> None:
        """Complete what `kcl admin txn unstick-lso` found of the partition that it named before."""
        row = self.rows[-1]
        if found.re.pattern == _CAUSING.pattern:
            row[COLUMNS["producer_id"]], row[COLUMNS["producer_epoch"]] = int(found["id"]), int(found["epoch"])
        else:
            row[COLUMNS["topic_code"]] = self.strings.code(found["topic"])
            row[COLUMNS["transactional_id_code"]] = self.strings.code(found["id"])

    def _stable(self, line: Line, text: str) -> None:
        for told in stable_offsets(text):
            self._add(
                EventKind.position_told, line.number, line.position, topic=told.topic or self.part.topic,
                partition=told.partition if told.topic else self.part.partition, offset=told.offset, number=told.end,
                detail=READ_UP_TO if told.is_read_up_to else STABLE,
            )  # fmt: skip

    def _add(self, kind: EventKind, line: int, position: int, **columns: object) -> None:
        row = empty_row()
        row[COLUMNS["kind"]], row[COLUMNS["line"]], row[COLUMNS["position"]] = int(kind), line, position
        row[COLUMNS["level"]] = row[COLUMNS["side"]] = -1
        for name, value in columns.items():
            if name in NUMBERS:
                number = value if isinstance(value, int) else -1
                row[COLUMNS[name]] = number if 0 <= number <= LARGEST[name] else -1
            elif isinstance(value, str):
                row[COLUMNS[f"{name}_code"]] = self.strings.code(value)
        self.rows.append(row)


def _of(found: re.Match[str]) -> dict[str, Any]:
    return {"topic": found["topic"], "partition": _number(found["partition"])}


def _number(text: str) -> int:
    """A number of a cell, -1 where it is none (`None`, `-`) or negative."""
    return int(text) if text.isdecimal() and len(text) < 19 else -1


def _time_of(text: str) -> int:
    """A time in milliseconds, as Kafka's tool prints it, or as rpk and kcl do; -1 where it is none."""
    return _number(text) if text.isdecimal() else time_told(text)
