"""What tools print of transactions as JSON: objects over many lines or several in one line, as rows of cells by name.

Shape   a list of objects, alone or under one key beside words about the command: `rpk cluster txn list|describe|
        describe-producers --format json` (24.1+), `kcl txn ... --format json` (0.18, `_command` and a list), and either
        through jq. Names of keys are compared as those of columns are, without case, dashes and underscores.
Meaning of rpk: it prints times in milliseconds, `timeout` too (a number there, `1m0s` in its table), and an object for
        each partition of a transaction.
Source  rpk's pkg/cli/cluster/txn (24.3); kcl's out/format.go and commands/admin/txn/txn.go (0.18).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from kafkatx.text.lines import Line
from kafkatx.text.printed.line_kinds import ToolLineKind

Cells = dict[str, str]
LISTED = frozenset({"transactionalid", "producerid", "state"})
"""Cells of an object that tells the state of an id."""
PRODUCERS = (
    frozenset({"topic", "partition", "producerid", "producerepoch", "lasttimestamp"}),
    frozenset({"topic", "partition", "id", "epoch", "txnstartoffset"}),
)
"""Cells of an object that tells a producer of a partition, as rpk and kcl name them."""
LOGGED = frozenset({"msg", "message", "level", "severity", "logger"})
"""Cells of a record of a log, which is none of these."""
SIGNS = '"producer_id"', '"txn_start_offset"', '"producer-id"', '"producerId"', '"ProducerId"'
"""What stands in any of these texts."""
MOST_LINES = 5_000
"""Lines that one list is printed over."""
_ENDS = {"{": "}", "[": "]"}


def whole_object(line: Line, peek: Callable[[int], Line | None]) -> tuple[Line, int] | None:
    """Return the line of a list that begins here, with the lines behind that it takes; None where none of ours does.

    Args:
        line: the line that may begin it.
        peek: gives the n-th line behind it, None behind the last one.
    """
    text = line.text.strip()
    if text[:1] not in _ENDS:
        return None
    if text not in ("{", "[", "[{"):
        return (line, 0) if kind_of_objects(text) else None
    end, texts = line.text[: len(line.text) - len(line.text.lstrip())] + _ENDS[text[0]], [line.text]
    for count in range(MOST_LINES):
        following = peek(count)
        if following is None:
            return None
        texts.append(following.text)
        if following.text.rstrip() == end or (text == "[{" and following.text.strip() == "}]"):
            whole = "\n".join(texts)
            return (replace(line, text=whole, end=following.end), count + 1) if kind_of_objects(whole) else None
    return None


def with_objects(source: Iterable[Line]) -> Iterator[Line]:
    """Yield lines, those of a list as one."""
    read, at = list(source), 0
    while at < len(read):
        found = whole_object(read[at], partial(_behind, read, at))
        yield found[0] if found is not None else read[at]
        at += 1 + (found[1] if found is not None else 0)


def _behind(read: list[Line], at: int, count: int) -> Line | None:
    return read[at + 1 + count] if at + 1 + count < len(read) else None


def kind_of_objects(text: str) -> ToolLineKind | None:
    """Tell what a text of JSON lists: states of ids, producers of partitions, or nothing of that."""
    cells = object_cells(text)
    if any(cell.keys() >= LISTED for cell in cells):
        return ToolLineKind.LISTED
    is_answer = any(cell.keys() >= wanted for cell in cells for wanted in PRODUCERS)
    return ToolLineKind.ANSWER if is_answer else None


def object_cells(text: str) -> list[Cells]:
    """Return the objects that a text lists, each as cells; none where it is no such text."""
    if not text.lstrip().startswith(("{", "[")) or not any(sign in text for sign in SIGNS):
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    cells = [_cells(one) for one in _objects(found) if isinstance(one, dict)]
    return [] if any(LOGGED & cell.keys() for cell in cells) else _united(cells)


def _objects(found: Any) -> list[Any]:
    """The objects of a list, of the one list under a key of an object, or the object itself."""
    if isinstance(found, list):
        return found
    lists = [value for value in found.values() if isinstance(value, list)] if "_command" in found else []
    return lists[0] if len(lists) == 1 else [found]


def _cells(one: dict[str, Any]) -> Cells:
    """An object as cells; a number is one of milliseconds where a table has words for it."""
    cells = {name.replace("_", "").replace("-", "").lower(): str(value) for name, value in one.items()}
    if isinstance(one.get("timeout"), int):
        cells["timeoutms"] = cells.pop("timeout")
    if cells.keys() >= LISTED and cells.get("topic"):
        cells["partitions"] = f"{cells.pop('topic')}-{cells.pop('partition', '')}"
    return cells


def _united(cells: list[Cells]) -> list[Cells]:
    """Objects that differ in nothing but one partition of a transaction as one."""
    found: dict[tuple[tuple[str, str], ...], Cells] = {}
    for cell in cells:
        of_all = tuple(pair for pair in cell.items() if pair[0] != "partitions")
        if (before := found.setdefault(of_all, cell)) is not cell and "partitions" in cell:
            before["partitions"] += f",{cell['partitions']}"
        elif before is not cell:
            found[(*of_all, ("", str(len(found))))] = cell
    return list(found.values())
