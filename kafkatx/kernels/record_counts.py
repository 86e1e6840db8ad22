"""How many records batches hold, and which of them are none: for who wants to know no more of a record than that.

No row is written for a record, and what is decompressed lies where the batch before it lay: in the processor's cache.
"""

from typing import Any

from kafkatx.kernels.engine import kernel, kernel_lean
from kafkatx.kernels.payloads import payload_at_once
from kafkatx.kernels.records import LEFT_OVER, NO_RECORD, note_problem, read_record


@kernel_lean
def count_batch(
    data: Any, at: int, end: int, batch_row: int, record_count: int, problems: Any, bad: int
) -> tuple[int, int]:
    """Count the records in data[at:end], where there should be `record_count`; (their number, problems noted)."""
    record = 0
    while record < record_count:
        behind = read_record(data, at, end)[0]
        if behind < 0:
            return record, note_problem(problems, bad, batch_row, record, at, NO_RECORD)
        at = behind
        record += 1
    if record == record_count and at != end:
        bad = note_problem(problems, bad, batch_row, record, at, LEFT_OVER)
    return record, bad


@kernel
def count_records(data: Any, batches: Any, starts: Any, ends: Any, first: int, problems: Any) -> tuple[int, int, int]:
    """Count records from batches[first] on; those of batches[n] lie in data[starts[n] : ends[n]].

    Fills `problems` as `walk_records` does, and ends where there is no more room for one. Returns the number of the
    next batch, how many records there are, and how many problems.
    """
    number = first
    records = 0
    bad = 0
    while number < len(batches) and bad < len(problems):
        found, bad = count_batch(
            data, int(starts[number]), int(ends[number]), number, int(batches["record_count"][number]), problems, bad
        )
        records += found
        number += 1
    return number, records, bad


@kernel
def count_compressed(
    data: Any,
    batches: Any,
    starts: Any,
    ends: Any,
    codecs: Any,
    first: int,
    limit: int,
    calls: Any,
    out: Any,
    problems: Any,
) -> tuple[int, int, int]:
    """As `count_records`, of batches that are compressed in `data`: each is decompressed to the begin of `out`.

    What else there is to these arguments: see `lay_payloads`. A batch that is not done at once ends it, too.
    """
    number = first
    records = 0
    bad = 0
    while number < len(batches) and bad < len(problems):
        size = payload_at_once(data, int(starts[number]), int(ends[number]), codecs[number], limit, calls, out, 0)
        if size < 0:
            break
        found, bad = count_batch(out, 0, size, number, int(batches["record_count"][number]), problems, bad)
        records += found
        number += 1
    return number, records, bad
