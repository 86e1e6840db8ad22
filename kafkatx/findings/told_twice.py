"""Failures that one text tells twice: an excerpt beside the whole line, and calls of one producer that name nobody.

A text without a time or a name shows by its words, or by standing among the few lines about one id, whose it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkatx.findings.client_lines import is_cut_out
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.error_codes import FENCED, error_code

if TYPE_CHECKING:
    from kafkatx.findings.told_failures import ToldFailure


def without_excerpts(logs: LogModel, found: list[ToldFailure]) -> list[ToldFailure]:
    """Lay what a text tells by its words alone, without time or name, to the failure of another with these words."""
    known: dict[tuple[int, int], int] = {}
    whole: list[ToldFailure] = []
    for told in sorted(found, key=lambda one: not is_placed(one)):
        words = _texts(logs, told)
        at = None if is_placed(told) else next((known[one] for one in words if one in known), None)
        if at is not None and not _shares_source(logs, told, whole[at]):
            whole[at] = replace(whole[at], rows=(*whole[at].rows, *told.rows))
            continue
        known.update((one, len(whole)) for one in words if one not in known)
        whole.append(told)
    return whole


def with_nameless(logs: LogModel, found: list[ToldFailure]) -> list[ToldFailure]:
    """Lay a refusal of an old epoch that names nobody to that of the only id which the same few lines tell of.

    The calls of a producer are refused one after the other, and not each line names it.
    """
    named = [told for told in found if told.transactional_id is not None and _is_fenced(told)]
    if len({told.transactional_id for told in named}) != 1:
        return found
    first = named[0]
    mine = [told for told in found if _is_of_nobody(told) and _is_fenced(told)]
    mine = [told for told in mine if logs.path(told.rows[0]) == logs.path(first.rows[0])]
    if not mine or not is_cut_out(logs, first.rows):
        return found
    rows = tuple(sorted({row for told in (first, *mine) for row in told.rows}))
    joined = replace(first, rows=rows, call=first.call or mine[0].call)
    return [joined if told is first else told for told in found if told not in mine]


def _is_fenced(told: ToldFailure) -> bool:
    return told.known is not None and error_code(told.known.name) in FENCED


def _is_of_nobody(told: ToldFailure) -> bool:
    """Whether nothing names whose failure it is, nor when it was."""
    is_named = told.client is not None and told.client.client_id is not None
    return not is_named and told.transactional_id is None and told.at is None


def is_placed(told: ToldFailure) -> bool:
    """Whether somebody's name or a time says which failure it is."""
    is_named = told.client is not None and told.client.client_id is not None
    return is_named or told.transactional_id is not None or told.at is not None


def _texts(logs: LogModel, told: ToldFailure) -> set[tuple[int, int]]:
    """The errors of its lines with their words."""
    e = logs.events
    pairs = {(int(e["error_code"][row]), int(e["detail_code"][row])) for row in told.rows}
    return {pair for pair in pairs if pair[1] >= 0}


def _shares_source(logs: LogModel, told: ToldFailure, other: ToldFailure) -> bool:
    sources = logs.events["source"]
    return int(sources[told.rows[0]]) in {int(sources[row]) for row in other.rows}
