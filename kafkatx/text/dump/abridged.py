"""What follows from the columns that an abridged dump still shows: lines in which `...` stands for fields.

A column that was left out is unknown, never false. But some follow from others: a producer id has a transactional.id or
has none for all its life, so a marker of it proves that its data were transactional; a sequence, or content behind the
fields, shows that a record is data; and where a text shows one producer id only, a marker that lost its own is of that.
Plain   a batch without a producer id is in no transaction and ends none.
Source  KIP-98: ids without a transactional.id get a producer id of their own, which no marker names.
"""

from __future__ import annotations

import numpy as np

from kafkatx.formats.control_record import ControlType
from kafkatx.kernels.distinct import distinct
from kafkatx.segments.batches import Rows
from kafkatx.terms.regex import regex
from kafkatx.text.dump.columns import IS_TRANSACTIONAL, BatchDraft, known_as

_CONTENT = regex(r"(?:^|[\]\s])(?:key|payload): ")


def complete(drafts: list[BatchDraft], rows: Rows, known: Rows) -> bool:
    """Fill in place what follows for batches of one text whose lines lack it; what was printed stays.

    In a text that shows markers, data of a producer id that none of them names are taken for transactional too: that is
    what such a page is about, though those of an idempotent producer look the same. Returns whether that was assumed of
    any; nothing may be proved by the end of such a text.
    """
    _count(rows, known)
    needed = known_as("producer_id", "is_transactional", "is_control")
    lacking = known & needed != needed
    if not lacking.any():
        return False
    plain = lacking & _has(known, "producer_id") & (rows["producer_id"] == -1)
    known |= np.where(plain, known_as("is_transactional", "is_control"), 0)
    unknown = lacking & (known & known_as("is_control") == 0)
    is_data = unknown & np.array([_shows_data(draft) for draft in drafts], bool)
    known |= np.where(is_data, known_as("is_control"), 0)
    is_marker = _markers(rows, known)
    _name_only_producer(rows, known, is_marker)
    ended = distinct(rows["producer_id"][is_marker & _has(known, "producer_id")])
    proved = ~_has(known, "is_transactional") & _has(known, "producer_id") & np.isin(rows["producer_id"], ended)
    rows["attributes"] |= np.where(proved, IS_TRANSACTIONAL, 0).astype(np.int16)
    known |= np.where(proved, known_as("is_transactional"), 0)
    assumed = ~_has(known, "is_transactional") & is_data & (rows["producer_id"] >= 0) & bool(is_marker.any())
    rows["attributes"] |= np.where(assumed, IS_TRANSACTIONAL, 0).astype(np.int16)
    known |= np.where(assumed, known_as("is_transactional"), 0)
    return bool(assumed.any())


def _count(rows: Rows, known: Rows) -> None:
    """Take a batch whose count was left out for one that nothing was cleaned out of."""
    uncounted = (rows["record_count"] < 0) & ~_has(known, "record_count")
    rows["record_count"] = np.where(uncounted, rows["last_offset"] - rows["base_offset"] + 1, rows["record_count"])


def _has(known: Rows, column: str) -> Rows:
    found: Rows = known & known_as(column) != 0
    return found


def _markers(rows: Rows, known: Rows) -> Rows:
    found: Rows = _has(known, "control_type") & (rows["control_type"] >= 0)
    return found & (rows["control_type"] <= ControlType.COMMIT)


def _name_only_producer(rows: Rows, known: Rows, is_marker: Rows) -> None:
    """Give markers without a producer id the one that all other lines name."""
    names = distinct(rows["producer_id"][_has(known, "producer_id") & (rows["producer_id"] >= 0)])
    nameless = is_marker & ~_has(known, "producer_id")
    if len(names) == 1 and nameless.any():
        rows["producer_id"] = np.where(nameless, names[0], rows["producer_id"])
        known |= np.where(nameless, known_as("producer_id"), 0)


def _shows_data(draft: BatchDraft) -> bool:
    """Whether a line has a sequence, or key or payload behind its fields, which no control record has."""
    if draft.control is not None:
        return False
    sequence = max(draft.parsed.number("baseSequence"), draft.parsed.number("sequence"))
    tail = "" if draft.first is None else draft.first.parsed.tail
    return sequence >= 0 or _CONTENT.search(tail) is not None
