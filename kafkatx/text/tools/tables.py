"""Tables that admin tools print: a heading of column names, then a line a row, whichever tool printed it.

Shape   kafka-transactions.sh parts columns by tabs and pads them with blanks; rpk and kafka-consumer-groups by blanks
        alone, and so does who pastes; wikis and databases draw bars, spreadsheets commas. rpk prints
        names like `PRODUCER-ID`, Kafka `ProducerId`: names are compared without case and dashes.
kcl     has a column ERROR, empty where nothing failed, times with a blank, and names with one up to 0.17: its rows are
        cut where the names of their heading begin, and read by words only where that column is the last.
Limits  without tabs an id may hold blanks, so it takes the words that are left over; columns at the end may be empty.
Source  ToolsUtils.prettyPrintTable, TransactionsCommand (3.0 to 4.3), ConsumerGroupCommand (0.11 to 4.3); rpk's
        out.Table; kcl's commands/admin/txn/txn.go, out/format.go (0.9 to 0.18: text/tabwriter, two blanks between).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.lines import Line, lines
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.listed_objects import object_cells, with_objects
from kafkatx.text.printed.pasted import undecorated
from kafkatx.text.printed.tool_lines import without_prefix

ID = "transactionalid"
"""The column whose values may hold blanks."""
MOST_EMPTY = 2
"""Columns at the end that may be empty."""
ERROR = " ERROR"
"""The column of kcl that is empty where nothing failed."""
_ALIGNED = regex(r"\S+(?: \S+)*")
"""A cell of columns that are aligned with two blanks between them at least."""
_RULE = regex(r"[-=+|:>\s]+")
MOST_WORDS = 64
LEFT_OUT = ("...", "\u2026")
"""What stands in a heading for columns that were cut out, of the rows as well."""
_SIGNS = ("|", ",", ";")
"""Signs between cells: bars as in Markdown or a box, commas of a spreadsheet."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: its cells by the names of their columns, and the line it stands in."""

    cells: dict[str, str]
    line: Line


def object_rows(file: OpenFile, part: TextPart, *wanted: frozenset[str]) -> Iterator[TableRow]:
    """Yield the objects that a part lists as JSON, of those that have all cells of one of `wanted`."""
    for line in with_objects(lines(file, part.position, part.end, part.line)):
        for cells in object_cells(line.text):
            if any(cells_wanted <= cells.keys() for cells_wanted in wanted):
                yield TableRow(cells, line)


def named_columns(text: str) -> tuple[str, ...]:
    """Return the names in a heading, as they are compared."""
    cells = _cells(text, _separator(text))[:MOST_WORDS]
    return tuple(cell.replace("-", "").lower() for cell in cells if cell not in LEFT_OUT)


def table_rows(file: OpenFile, part: TextPart, *wanted: frozenset[str]) -> Iterator[TableRow]:
    """Yield the rows of the tables of a part that have all columns of one of `wanted`; other lines end a table."""
    columns: tuple[str, ...] = ()
    prefix = separator = ""
    begins: tuple[int, ...] = ()
    for line in lines(file, part.position, part.end, part.line):
        aligned = _aligned(line.text)
        names = tuple(aligned) or named_columns(line.text)
        if any(columns_wanted <= set(names) for columns_wanted in wanted):
            columns, prefix = names, line.text[: len(line.text) - len(undecorated(line.text))]
            separator, begins = _separator(line.text), tuple(aligned.values())
            continue
        text = without_prefix(line.text, prefix)
        if not columns or not text.strip() or _RULE.fullmatch(text):
            continue
        cells = _cut(text, columns, begins) if begins else None
        if cells is None and not (begins and columns[-1] != "error"):
            cells = cells_of(text, columns) if separator not in _SIGNS else _in_signs(line.text, columns, separator)
        if cells is None:
            columns = ()
        else:
            yield TableRow(cells, line)


def _aligned(text: str) -> dict[str, int]:
    """The names in a heading of kcl's with the places where they begin; nothing for another line."""
    if ERROR not in text or "\t" in text or _separator(text) in _SIGNS:
        return {}
    found = _ALIGNED.finditer(undecorated(text).rstrip())
    return {cell[0].replace("-", "").replace(" ", "").lower(): cell.start() for cell in found}


def _cut(text: str, columns: tuple[str, ...], begins: tuple[int, ...]) -> dict[str, str] | None:
    """Return the cells of a line that has a blank before each place where a column begins, None where one has none."""
    if any(text[at - 1 : at].strip() for at in begins[1:]):
        return None
    return {name: text[at:end].strip() for name, at, end in zip(columns, begins, (*begins[1:], None), strict=True)}


def time_told(text: str) -> int:
    """A time in milliseconds as rpk prints it (ISO 8601), or kcl (UTC, no zeros at its end); -1 where it is none."""
    try:
        at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return -1
    if at.tzinfo is None and text[10:11] == " ":
        at = at.replace(tzinfo=UTC)
    return round(at.timestamp() * 1000) if at.tzinfo is not None else -1


def _separator(text: str) -> str:
    """What parts the cells of a heading: the sign of a table or a spreadsheet, else blanks or tabs."""
    return next((sign for sign in _SIGNS if sign in text.strip("|>#* \t")), " ")


def _cells(text: str, separator: str) -> list[str]:
    if separator not in _SIGNS:
        return undecorated(text).split()
    return [cell.strip(' *`"') for cell in text.strip(" \t>#*").strip("|").split(separator)]


def _in_signs(text: str, columns: tuple[str, ...], separator: str) -> dict[str, str] | None:
    """Return the cells of a line between signs; what is over belongs to the last column, a list with commas."""
    cells = _cells(text, separator)
    if len(cells) < len(columns) - MOST_EMPTY:
        return None
    last = len(columns) - 1
    cells = [*cells[:last], separator.join(cells[last:])] if len(cells) > last else cells
    return {**dict.fromkeys(columns, ""), **dict(zip(columns, cells, strict=False))}


def cells_of(text: str, columns: tuple[str, ...]) -> dict[str, str] | None:
    """Return the cells of a line by column, None where it is no row of such a table."""
    if "\t" in text:
        cells = [cell.strip() for cell in text.split("\t")]
        is_row = len(cells) >= len(columns) and not any(cells[len(columns) :])
        return dict(zip(columns, cells, strict=False)) if is_row else None
    words = (undecorated(text).replace("|", " ") if "|" in text else text).split()
    spare = len(words) - len(columns)
    if spare > 0 and ID in columns and len(words) <= MOST_WORDS:
        at = columns.index(ID)
        words = [*words[:at], " ".join(words[at : at + spare + 1]), *words[at + spare + 1 :]]
    if not -MOST_EMPTY <= len(words) - len(columns) <= 0:
        return None
    return {**dict.fromkeys(columns, ""), **dict(zip(columns, words, strict=False))}
