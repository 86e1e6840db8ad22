"""Listings of a console consumer at two isolation levels: which records read_committed was not given, and what follows.

A reader with read_committed that was given an offset proves that the last stable offset lay above it: what it was not
given below that offset had been aborted. What lies behind the last offset that it was given was aborted or waits. Who
aborted it is in the partition's log alone, so this is told as what can't be checked, with the facts.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.item import Item, Kind
from kafkatx.findings.finding import NotCheckable
from kafkatx.sources.files import OpenFile
from kafkatx.terms.regex import regex

_COMMITTED = regex(r"read[_\\-]*committed", re.IGNORECASE)
_UNCOMMITTED = regex(r"read[_\\-]*uncommitted", re.IGNORECASE)
MOST_RANGES = 8


def hidden_records(capture: Capture) -> Iterator[NotCheckable]:
    """One entry for each partition of which both kinds of listing are at hand."""
    listings = capture.texts(Kind.RECORDS)
    committed = [item for item in listings if _says(item, _COMMITTED)]
    for item in listings:
        if item not in committed:
            partners = (other for other in committed if _may_be_of_one_topic(item, other))
            for other in islice(partners, 1):
                yield from _compared(item, other)


def _may_be_of_one_topic(item: Item, other: Item) -> bool:
    return _topic(item) is None or _topic(other) in (None, _topic(item))


def _compared(item: Item, committed: Item) -> Iterator[NotCheckable]:
    """What a listing of all records has that one of committed ones lacks; nothing where one can't be read."""
    from kafkatx.text.tools.consumed import compared, consumed_records

    if item.part is None or committed.part is None:
        return
    with contextlib.suppress(OSError), OpenFile(item.path) as one, OpenFile(committed.path) as two:
        for entry in compared(consumed_records(one, item.part), consumed_records(two, committed.part)):
            where = f"{_topic(item) or 'the topic'}-{'?' if entry.partition is None else entry.partition}"
            yield from _told(where, entry.passed, entry.hidden_before, entry.hidden_after)


def _told(
    where: str, passed: int | None, before: Iterable[tuple[int, int]], after: Iterable[tuple[int, int]]
) -> Iterator[NotCheckable]:
    gone, waiting = _offsets(before), _offsets(after)
    if gone:
        scope = (
            f"{where} @ {gone}: aborted, since read_committed was given offset {passed} behind them and not them; "
            "no reader waits for them, and no expiry of readers hides them"
        )
        yield NotCheckable("aborted_by_client", scope, "the partition's log: who aborted them")
    if waiting:
        scope = f"{where} @ {waiting}: given to read_uncommitted alone: aborted, or behind an open transaction"
        yield NotCheckable("read_committed_blocked", scope, "the partition's log: whether a transaction is open there")


def _offsets(ranges: Iterable[tuple[int, int]]) -> str:
    texts = [str(first) if first == last else f"{first}..{last}" for first, last in ranges]
    more = f" and {len(texts) - MOST_RANGES} more stretches" if len(texts) > MOST_RANGES else ""
    return ", ".join(texts[:MOST_RANGES]) + more


def _topic(item: Item) -> str | None:
    return item.part.topic if item.part is not None else None


def _says(item: Item, level: re.Pattern[str]) -> bool:
    command = (item.part.command if item.part is not None else None) or ""
    return bool(level.search(command)) and not (level is _COMMITTED and _UNCOMMITTED.search(command))
