"""Which findings are about an id or a producer, and how it is called on the page."""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.findings.diagnosis import Diagnosed
from kafkatx.terms.printable import printable
from kafkatx.words.values import producer_name

BySubject = dict[object, list[Diagnosed]]
"""Findings by transactional.id, and by producer id, in their order."""


def by_subject(findings: Iterable[Diagnosed]) -> BySubject:
    """Findings by transactional.id, and by producer id, in their order."""
    found: BySubject = {}
    for one in findings:
        subjects = one.finding.subjects
        ids = {one.finding.transactional_id, *(subject.transactional_id for subject in subjects)}
        producers = {one.finding.producer_id, *(subject.producer_id for subject in subjects)}
        for name in (*sorted(filter(None, ids)), *(producer for producer in producers if producer is not None)):
            found.setdefault(name, []).append(one)
    return found


def about(name: str | None, producer_ids: Iterable[int], of_id: BySubject) -> list[Diagnosed]:
    """The findings about an id, or about a producer that has none."""
    if name is not None:
        return of_id.get(name, [])
    return [one for producer in producer_ids for one in of_id.get(producer, [])]


def name_of(name: str | None, producer_ids: Iterable[int]) -> str:
    """Return an id as it is shown; without one the first of the producer ids."""
    return printable(name if name is not None else producer_name(None, next(iter(producer_ids), -1)))
