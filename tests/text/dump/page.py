"""docs/dump-text.md: the shapes of lines (kafkatx/text/printed/eras.py), and what the text of each release carries.

What is carried is read off real texts of the releases (`printed/`): the columns that the reader says it knows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kafkatx.segments.names import Names
from kafkatx.text.dump.rows import BATCH_COLUMNS, STATE_COLUMNS, TextRows
from kafkatx.text.printed.eras import SHAPES, TIMESTAMP, LineKind
from tests.text.dump.comparing import batches_of_text, states_of_text

FOLDER = Path(__file__).parent / "printed"


@dataclass(frozen=True)
class Era:
    """Releases whose text carries the same, with which options, and a text that shows it: release and name."""

    since: str
    until: str
    options: str
    release: str
    name: str

    @property
    def path(self) -> Path:
        return FOLDER / self.release / f"{self.name}.txt"


SHALLOW, DEEP = "none (headers of batches only)", "`--deep-iteration`, `--print-data-log` or a decoder"
BATCHES = (
    Era("0.11.0.0", "0.11.0.1", DEEP, "0.11.0.1", "imports"),
    Era("0.11.0.2", "2.1", DEEP, "0.11.0.3", "texts"),
    Era("0.11", "1.1", SHALLOW, "1.0.2", "texts-shallow"),
    Era("2.0", "2.1", SHALLOW, "2.0.1", "invoices-shallow"),
    Era("2.2", "3.1", SHALLOW, "3.0.2", "texts-shallow"),
    Era("2.2", "2.7", DEEP, "2.2.2", "texts"),
    Era("2.8", "2.8", DEEP, "2.8.2", "texts"),
    Era("3.0", "3.1", DEEP, "3.0.2", "texts"),
    Era("3.2", "", SHALLOW, "3.9.1", "texts-shallow"),
    Era("3.2", "", DEEP, "4.1.2", "texts"),
)
STATES = (
    Era("0.11", "2.1", "`--transaction-log-decoder`", "1.0.2", "states"),
    Era("2.2", "2.4.0", "`--transaction-log-decoder`", "2.3.1", "states"),
    Era("2.4.1", "4.0", "`--transaction-log-decoder`", "3.5.2", "states"),
    Era("4.1", "", "`--transaction-log-decoder`", "4.1.2", "states"),
)
LACKS = {
    "delete_horizon": "delete horizon",
    "unknown_tags_code": "unknown tagged fields",
}
SOMETIMES = {
    "control_type": "control_type of a marker",
    "coordinator_epoch": "coordinator_epoch of a marker",
    "base_timestamp": "base_timestamp of a batch whose first record is not shown, or with LogAppendTime",
}


def lacking(rows: TextRows) -> tuple[list[str], list[str]]:
    """Columns that no row carries, and those that some rows don't."""
    never = [column for column in rows.columns if not rows.knows(column).any()]
    return never, [column for column in rows.columns if column not in never and not rows.knows(column).all()]


def rows_of(era: Era) -> TextRows:
    """What is read of an era's text; of states those that are no tombstones, which have nothing that could lack."""
    if era in STATES:
        rows = states_of_text(era.path, Names())
        kept = rows.rows["is_tombstone"] == 0
        return replace(rows, rows=rows.rows[kept], known=rows.known[kept])
    return batches_of_text(era.path, "texts")


def shape_rows() -> Iterator[str]:
    for kind in LineKind:
        for shape in SHAPES:
            if shape.kind is kind:
                fields = " ".join("*TIMESTAMP*" if field == TIMESTAMP else field for field in shape.fields)
                yield f"| {kind} | {span(shape.since, shape.until)} | {shape.options} | {fields} |\n"


def span(since: str, until: str) -> str:
    return since if since == until else f"{since} to {until}" if until else f"{since} and later"


def carried_rows(eras: tuple[Era, ...]) -> Iterator[str]:
    for era in eras:
        never, some = lacking(rows_of(era))
        absent = ", ".join(LACKS.get(column, column) for column in never) or "-"
        partly = ", ".join(SOMETIMES.get(column, column) for column in some) or "-"
        yield f"| {span(era.since, era.until)} | {era.options} | {absent} | {partly} |\n"


PAGE = """\
# What the text of kafka-dump-log says

The release of the tool decides, not the one that wrote the log. Each release prints lines of one shape; kafkatx reads
them to the rows that the dumped bytes give. What a text does not carry is unknown: never null, never a reason for a
conclusion.

## Lines of a log

Fields in their order, `key: value`, a blank between. *TIMESTAMP* is a field whose key is the type of the timestamp
(`CreateTime`, `LogAppendTime`, `NoTimestampType`). Behind `headerKeys` (or, without it, the last field) stands what a
control record says, or ` key: K` and ` payload: V` where contents are printed. A *flat record* says all of its batch;
a *message* is one of format 0 or 1.

| line | releases | options | fields |
| --- | --- | --- | --- |
{shapes}
Lines with other fields, in another order or with `...` for some are read field by field.

## Batches

All columns are {batches}. Of these a text carries all but:

| releases of the tool | options | never | of some batches not |
| --- | --- | --- | --- |
{carried}
- Without lines of batches (records, to 2.1) a batch is the run of records that say one position: one that the cleaner
  emptied is not there, and first and last offset are those of the records that are left.
- A batch in a transaction without a sequence is a marker, also where no field says so. Its kind stands in its record
  only.
- base_timestamp is not printed but as a delete horizon. Where the first record is there, the column holds its time:
  writers count from it. To 3.1 the tool does not show whether a horizon has taken its place.
- A line with `isvalid: false` is damage, as the batch is in bytes.

## Transaction states

All columns are {states}. Of these a text carries all but:

| releases of the tool | options | never | of some rows not |
| --- | --- | --- | --- |
{stated}
- To 4.0 the start of a transaction is not printed. It is the last update of the first Ongoing row, known where that
  row directly follows another row of its id; else it is unknown.
- A tool before 2.4.1 ends at the first tombstone, in the middle of its line: what follows is not in the text.
- The list of partitions is in no order; an empty list of state Empty is null in the bytes.

## Records, offsets, other files

- Records: offset, timestamp, sequence (not in messages), sizes and, with contents, key and value; keys of headers,
  never their values. Without a line of its batch (a page that begins below it) a record tells no producer.
- To 2.4.0 nothing is printed of a record without a value, nor its key. Bytes that are no UTF-8 are printed as U+FFFD:
  then key and value are not known.
- Offset commits: group, topic, partition, offset, metadata; commit time and leader epoch since 3.8, when the text
  became JSON.
- `.txnindex`: all columns. `.snapshot`: all columns; to 3.0 no time of an entry without a batch. `.index`,
  `.timeindex`: all entries; preallocated ones (position 0, time 0) are none.
- `kafka-console-consumer` with the formatter of transaction states: all columns of a state but offset and time of its
  record, in the order of each id; no tags and versions before JSON (3.9).
"""


def dump_text_page() -> str:
    """Return the page."""
    return PAGE.format(
        shapes="".join(shape_rows()),
        batches=", ".join(BATCH_COLUMNS),
        carried="".join(carried_rows(BATCHES)),
        states=", ".join(STATE_COLUMNS),
        stated="".join(carried_rows(STATES)),
    )
