"""Findings by whom they are about, to be asked which of them may be about the same as another one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from kafkatx.outputs.comparing.document import DocumentFinding
from kafkatx.outputs.comparing.pairs import may_be_one_place
from kafkatx.rules.registry import RULES
from kafkatx.terms.verdicts import Severity

MOST_ASKED = 100
"""Findings of one name that are asked one by one; of more all count as about the same, which claims less."""


def is_lasting(found: DocumentFinding) -> bool:
    """Whether it stands until somebody ends it."""
    rule = RULES.get(found.finding.rule)
    return rule is not None and rule.is_lasting


def speaks_against(new: DocumentFinding) -> bool:
    """Whether a finding may be another one under a new name: what is only worth knowing tells how something ended."""
    return is_lasting(new) or new.finding.severity > Severity.info


class NamedFindings:
    """Findings by transactional.id, producer id and topic."""

    def __init__(self, findings: Iterable[DocumentFinding]) -> None:
        self._by_name: dict[Hashable, list[DocumentFinding]] = {}
        for one in findings:
            for name in _names(one, {one.finding.topic}):
                self._by_name.setdefault(name, []).append(one)

    def about(self, other: DocumentFinding) -> list[DocumentFinding]:
        """Return those that may be about the same id, producer or place as another finding, or as what it cites."""
        topic = other.finding.topic
        topics = {one.topic for one in other.places} if topic is None else {topic, None}
        found: dict[int, DocumentFinding] = {}
        for name in _names(other, topics):
            named = self._by_name.get(name, [])
            are_many = len(named) > MOST_ASKED
            found |= {id(one): one for one in named[:MOST_ASKED] if are_many or _is_about_same(other, one)}
        return list(found.values())


def _names(one: DocumentFinding, topics: set[str | None]) -> Iterator[Hashable]:
    if one.finding.transactional_id is not None:
        yield "id", one.finding.transactional_id
    if one.finding.producer_id is not None:
        yield "producer", one.finding.producer_id
    yield from (("topic", topic) for topic in sorted(filter(None, topics)))


def _is_about_same(missing: DocumentFinding, other: DocumentFinding) -> bool:
    """Whether another finding may be another word for the same: about the same id, producer, or place."""
    mine, its = missing.finding, other.finding
    if missing.cluster_id is not None and other.cluster_id is not None and missing.cluster_id != other.cluster_id:
        return False
    if mine.transactional_id is not None and mine.transactional_id == its.transactional_id:
        return True
    if mine.producer_id is not None and mine.producer_id == its.producer_id:
        return True
    if its.topic is None:
        return False
    if mine.topic is not None:
        return may_be_one_place(mine, its)
    return any(place.topic == its.topic and its.partition in (None, place.partition) for place in missing.places)
