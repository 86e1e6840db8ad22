"""Which files of a capture are taken, and why: no more than decides, wider where that would be judged otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import IntEnum

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.item import Item, Kind
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.local.collecting.subject import Partition, Subject
from kafkatx.sources.files import OpenFile
from kafkatx.terms.events import Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex_of_names
from kafkatx.terms.topics import CLUSTER_METADATA, TRANSACTION_STATE

OF_DIRECTORY = {
    Kind.META_PROPERTIES: "which cluster and broker it is",
    Kind.CHECKPOINT: "how far the logs reached",
    Kind.CLEAN_SHUTDOWN: "how the broker stopped",
}
OF_PARTITION = (Kind.LOG, Kind.SNAPSHOT, Kind.TXNINDEX, Kind.LEADER_EPOCHS, Kind.PARTITION_METADATA)
SCANNED = 1 << 22
"""Bytes of a text that are searched at once."""


class Reach(IntEnum):
    """How much is taken: what is asked for, or more of it where the bundle alone would be judged otherwise."""

    asked = 0
    states = 1
    logs = 2
    everything = 3


WIDENED = {
    Reach.states: "all partitions of __transaction_state",
    Reach.logs: "all partitions of __transaction_state, and logs of brokers and settings whole",
    Reach.everything: "all that a diagnosis reads",
}
"""What is taken beside what was asked for."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A file to take. `is_cut`: only lines of some hours, and those that name an id; `zone_ms` as of its clock.

    `items` is what it was taken for: of a text its parts.
    """

    path: str
    root: str
    size: int
    why: str
    is_text: bool = False
    is_cut: bool = False
    zone_ms: int = 0
    items: tuple[Item, ...] = ()


def names_pattern(names: Iterable[str]) -> re.Pattern[bytes] | None:
    """Where a text names one of some ids, with nothing of a word before or behind it; None for no ids."""
    quoted = sorted((re.escape(name.encode("utf-8", "surrogateescape")) for name in names), key=len, reverse=True)
    return regex_of_names(rb"(?<![A-Za-z0-9_])(?:" + b"|".join(quoted) + rb")(?![A-Za-z0-9_])") if quoted else None


def picks(capture: Capture, model: CaptureModel, subject: Subject, reach: Reach) -> list[Pick]:
    """Return the files of a capture to take, in the order of their paths."""
    if subject.is_empty:
        return []
    picker = _Picker(model, subject, reach)
    found: dict[str, Pick] = {}
    for directory in capture.directories:
        of_partitions = [pick for item in directory.items for pick in picker.of_item(item)]
        picker.note(directory.items)
        found.update((pick.path, pick) for pick in of_partitions)
        if any(not pick.is_text for pick in of_partitions):
            found.update(_of_directory(directory.items))
    for path, items in _by_path([*_items(capture)]).items():
        text = picker.of_text(items) if path not in found else None
        if text is not None:
            found[path] = text
    return [found[path] for path in sorted(found)]


def _items(capture: Capture) -> Iterator[Item]:
    for directory in capture.directories:
        yield from directory.items
    yield from capture.others


def _of_directory(items: Iterable[Item]) -> Iterator[tuple[str, Pick]]:
    for item in items:
        if item.kind in OF_DIRECTORY and not item.left_out:
            yield item.path, Pick(item.path, item.root, item.size, OF_DIRECTORY[item.kind], items=(item,))


def _by_path(items: list[Item]) -> dict[str, list[Item]]:
    """The parts of each text."""
    found: dict[str, list[Item]] = {}
    for item in items:
        if item.part is not None and not item.left_out:
            found.setdefault(item.path, []).append(item)
    return found


class _Picker:
    """Decides about the files of one capture."""

    def __init__(self, model: CaptureModel, subject: Subject, reach: Reach) -> None:
        self.subject, self.reach = subject, reach
        self.at_hand: set[Partition] = set()
        self.named = names_pattern(subject.ids)
        logs = model.logs
        self.sides = {source.path: source.side for source in logs.facts.sources}
        pairs = zip(logs.facts.sources, logs.clocks, strict=True)
        self.zones = {source.path: clock.zone_ms for source, clock in pairs}
        self.of_brokers = {logs.facts.sources[one.source].path for one in logs.facts.settings if one.scope == "broker"}

    def of_item(self, item: Item) -> Iterator[Pick]:
        """A file of a partition that a broker wrote."""
        if item.part is not None or item.left_out or item.folder is None or item.kind not in OF_PARTITION:
            return
        why = self._why_partition(item)
        if why is not None:
            yield Pick(item.path, item.root, item.size, why, items=(item,))

    def _why_partition(self, item: Item) -> str | None:
        """Why a partition is taken, None where it is not."""
        assert item.folder is not None
        key = item.folder.topic, item.folder.partition
        if key[0] == CLUSTER_METADATA:
            return None
        if key in self.subject.states:
            return f"the coordinator's rows{self._of_ids}"
        if key in self.subject.written:
            return f"its transactions wrote there{self._by_ids}" if self.subject.ids else "findings are about it"
        if key[0] == TRANSACTION_STATE and (self.reach >= Reach.states or not self.subject.ids):
            return "whether the coordinator knows the producer"
        return "findings would be judged otherwise without it" if self.reach is Reach.everything else None

    @property
    def _of_ids(self) -> str:
        names = sorted(self.subject.ids)
        return (
            "" if not names else f" of {names[0]}" if len(names) == 1 else f" of {names[0]} and {len(names) - 1} more"
        )

    @property
    def _by_ids(self) -> str:
        return "" if len(self.subject.ids) == 1 else " (of one of these ids)"

    def note(self, items: Iterable[Item]) -> None:
        """Note the partitions whose segments are there: what tools printed of them is a copy."""
        for item in items:
            if item.part is None and item.kind is Kind.LOG and item.folder and not item.left_out:
                self.at_hand.add((item.folder.topic, item.folder.partition))

    def _is_copy(self, item: Item) -> bool:
        if item.kind in (Kind.INDEX, Kind.TIMEINDEX):
            return True
        is_there = item.folder is not None and (item.folder.topic, item.folder.partition) in self.at_hand
        return is_there and self.reach < Reach.everything

    def of_text(self, items: list[Item]) -> Pick | None:
        """A text: a log, settings, or what tools printed; None where nothing of it is asked for."""
        path, size = items[0].path, sum(item.size for item in items)
        why = self._why_text(path, items)
        if why is None:
            return None
        is_log = all(item.kind is Kind.TEXT_LOG for item in items) and self.sides.get(path) is Side.broker
        is_cut = is_log and self.reach < Reach.logs
        return Pick(path, items[0].root, size, why, True, is_cut, self.zones.get(path, 0), tuple(items))

    def _why_text(self, path: str, items: list[Item]) -> str | None:
        if any(item.kind in (Kind.TEXT_LOG, Kind.SETTINGS) for item in items):
            return self._why_log(path, items)
        for item in items:
            if self._is_copy(item):
                continue
            if item.folder is not None and (why := self._why_partition(item)) is not None:
                return f"{why} (printed)"
        if all(self._is_copy(item) for item in items):
            return None
        named = self.named is not None and mentions(path, self.named)
        return "names the id" if named or path in self.subject.cited else None

    def _why_log(self, path: str, items: list[Item]) -> str | None:
        side = self.sides.get(path)
        is_settings = all(item.kind is Kind.SETTINGS for item in items)
        if is_settings and path in self.of_brokers:
            return "settings of a broker"
        if side is Side.broker and not is_settings and (self.subject.windows or self.reach >= Reach.logs):
            return "what the broker logged at that time"
        if self.named is not None and mentions(path, self.named):
            return "settings of the client" if is_settings else "names the id"
        if path in self.subject.cited:
            return "findings rest on its lines"
        return "findings would be judged otherwise without it" if self.reach is Reach.everything else None


def mentions(path: str, pattern: re.Pattern[bytes]) -> bool:
    """Whether a file names what is looked for; one that can't be read does not."""
    try:
        with OpenFile(path) as file:
            return any(
                pattern.search(file.read(max(0, at - 1024), SCANNED + 1024)) for at in range(0, file.size, SCANNED)
            )
    except OSError:
        return False
