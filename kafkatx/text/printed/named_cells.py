"""What a coordinator said of a transactional.id, in one line of names and values instead of a table.

Shape   objects of the Java admin client (`TransactionListing(transactionalId='a', ..)`, `a=TransactionDescription(..)`)
        and answers that people condense: `... describe --transactional-id a -> TransactionState PrepareAbort, ..`.
Limits  lines of a log, and pieces of a dump's, are left to their readers; states that groups of consumers have as well
        count behind their full name only.
Source  TransactionListing, TransactionDescription (clients 3.0 to 4.3).
"""

from __future__ import annotations

import re

from kafkatx.terms.events import LEVELS_OF_KAFKA
from kafkatx.terms.regex import regex
from kafkatx.terms.transaction_states import TransactionState

_STATES = "|".join(state.name for state in TransactionState)
_OWN_STATES = "|".join(state.name for state in TransactionState if state.name not in ("Empty", "Dead"))
_MARK = r"[\"'`]?\s{0,3}[:=]?\s{0,3}[\"'`]?"
_CELLS = {
    "transactionstate": regex(
        rf"\btransaction[_ -]?state{_MARK}({_STATES})\b|\bstate[\"'`]?\s{{0,3}}[:=]\s{{0,3}}[\"'`]?({_OWN_STATES})\b",
        re.I,
    ),
    "transactionalid": regex(
        r"--transactional-id[ =][\"'`]?([^\s\"'`]{1,249})|\btransactional[_ .-]?id[\"'`]?\s{0,3}[:=]\s{0,3}[\"'`]?"
        r"([^\s\"'`,()]{1,249})|([^\s{}=,(]{1,249})=TransactionDescription\(",
        re.I,
    ),
    "producerid": regex(rf"\bproducer[_ -]?id{_MARK}(\d{{1,18}})\b", re.I),
    "producerepoch": regex(rf"\bproducer[_ -]?epoch{_MARK}(\d{{1,5}})\b", re.I),
    "timeoutms": regex(rf"\b(?:transaction)?timeoutms{_MARK}(\d{{1,10}})\b", re.I),
    "starttimems": regex(rf"\b(?:current)?(?:transaction)?starttimems{_MARK}(?:OptionalLong\[)?(\d{{1,14}})\b", re.I),
    "partitions": regex(
        rf"\btopic[_ -]?partitions{_MARK}[\[{{(]?((?:[\w.-]{{1,249}}-\d{{1,9}}(?:, ?)?){{1,1000}})", re.I
    ),
}
_LOGGED = regex(
    rf"\b(?:{LEVELS_OF_KAFKA})\b|TransactionMetadata\(|payload:|,state=|^\W{{0,3}}\d{{4}}-\d\d-\d\d[T ]\d\d:"
)


def named_cells(text: str) -> dict[str, str] | None:
    """Return what a line tells of one id, by the names of cells; None where it tells no state of an id."""
    if _LOGGED.search(text) or not all(_CELLS[name].search(text) for name in ("transactionstate", "transactionalid")):
        return None
    found = {name: pattern.search(text) for name, pattern in _CELLS.items()}
    return {name: next(filter(None, one.groups())) for name, one in found.items() if one is not None}
