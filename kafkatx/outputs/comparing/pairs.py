"""Which finding of one diagnosis is which of another one: one to one, whichever of the two is the earlier.

First by `key`, which names the incident. It is not enough alone:

A key changes with the evidence. A part of it that only some files tell (the transactional.id, the producer id, the
offset of the data, the cluster) is empty without them; an incident that repeats is one finding, and loses the parts in
which its times differ. Findings of one rule are then alike where no part that both know contradicts the other, and one
that names somebody agrees: the id, the producer, or the partition with offsets that overlap.
What happens again has another key. A second fencing of an id is of another epoch. Where both stretches are known and
lie apart, findings of one rule about the same id, partition or brokers are paired too: as what came back, never as
unchanged. Where they touch and contradict each other, they are two incidents.
Findings may share a key (two outages of a broker): nearest in time, with the same title, first. A key that names
nobody pairs only what has the same title.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import product

from kafkatx.findings.finding import Finding
from kafkatx.outputs.comparing.document import DocumentFinding

Pair = tuple[DocumentFinding, DocumentFinding]
Grouping = Callable[[DocumentFinding], Iterator[Hashable]]
Fits = Callable[[DocumentFinding, DocumentFinding], bool]
MOST_TRIED = 250_000
"""Pairs of one group that are weighed; in a larger one findings are paired in the order of time alone."""
KEY_PARTS = 6


def pairs(before: Iterable[DocumentFinding], after: Iterable[DocumentFinding]) -> list[Pair]:
    """Pair findings; what is in no pair has no counterpart. The order of either side changes nothing."""
    left, right = sorted(before, key=_order), sorted(after, key=_order)
    found: list[Pair] = []
    for grouping, fits in ((_by_key, _is_named), (_by_name, _is_alike), (_by_name, _is_apart)):
        new = _paired(left, right, grouping, fits)
        taken = {id(one) for pair in new for one in pair}
        left = [one for one in left if id(one) not in taken]
        right = [one for one in right if id(one) not in taken]
        found += new
    return found


def _order(one: DocumentFinding) -> tuple[int, int, str, str]:
    return one.order


def _paired(left: list[DocumentFinding], right: list[DocumentFinding], grouping: Grouping, fits: Fits) -> list[Pair]:
    """The pairs of each group that fit, the nearest ones first."""
    groups: dict[Hashable, tuple[list[DocumentFinding], list[DocumentFinding]]] = {}
    for side, findings in enumerate((left, right)):
        for one in findings:
            for name in grouping(one):
                groups.setdefault(name, ([], []))[side].append(one)
    tried = {(id(one), id(other)): (one, other) for group in groups.values() for one, other in _tried(*group)}
    near = sorted((pair for pair in tried.values() if fits(*pair)), key=_distance)
    found: list[Pair] = []
    taken: set[int] = set()
    for one, other in near:
        if not {id(one), id(other)} & taken:
            taken |= {id(one), id(other)}
            found.append((one, other))
    return found


def _tried(left: list[DocumentFinding], right: list[DocumentFinding]) -> Iterable[Pair]:
    if len(left) * len(right) <= MOST_TRIED:
        return product(left, right)
    same = {one.id: one for one in left}
    return [*((same[one.id], one) for one in right if one.id in same), *zip(left, right, strict=False)]


def _distance(pair: Pair) -> tuple[object, ...]:
    """How far two findings are from being one; the same whichever comes first."""
    one, other = pair
    return (
        one.id != other.id,
        one.key != other.key,
        lies_apart(one, other),
        one.finding.title != other.finding.title,
        _between(one.finding.since, other.finding.since),
        _between(one.finding.until, other.finding.until),
        *sorted((one.order, other.order)),
    )


def _between(one: int | None, other: int | None) -> int:
    if one is None or other is None:
        return 0 if one is other else 1 << 62
    return abs(one - other)


def _by_key(one: DocumentFinding) -> Iterator[Hashable]:
    yield one.key


def _is_named(one: DocumentFinding, other: DocumentFinding) -> bool:
    return any(_parts(one)[2:]) or one.finding.title == other.finding.title


def _by_name(one: DocumentFinding) -> Iterator[Hashable]:
    """Whom a finding of a rule is about, by each name that it has."""
    finding = one.finding
    if finding.transactional_id is not None:
        yield finding.rule, "id", finding.transactional_id
    if finding.producer_id is not None:
        yield finding.rule, "producer", finding.producer_id
    if finding.topic is not None:
        yield finding.rule, "place", finding.topic, finding.partition
    if finding.transactional_id is None and finding.topic is None and _parts(one)[2]:
        yield finding.rule, "brokers", _parts(one)[2]


def _is_alike(one: DocumentFinding, other: DocumentFinding) -> bool:
    """Whether nothing that both know tells them apart."""
    mine, its = one.finding, other.finding
    known = (
        (one.cluster_id, other.cluster_id),
        (mine.transactional_id, its.transactional_id),
        (mine.producer_id, its.producer_id),
        (mine.producer_epoch, its.producer_epoch),
    )
    agree = all(a is None or b is None or a == b for a, b in known)
    return agree and may_be_one_place(mine, its) and not lies_apart(one, other)


def _is_apart(one: DocumentFinding, other: DocumentFinding) -> bool:
    """Whether both are of the same in one cluster, at different times: what a producer id alone does not tell."""
    mine, its = one.finding, other.finding
    same_name = _parts(one)[2] == _parts(other)[2] != "" and mine.transactional_id == its.transactional_id
    return same_name and one.cluster_id == other.cluster_id and lies_apart(one, other)


def may_be_one_place(one: Finding, other: Finding) -> bool:
    """Whether two findings may be about the same data: what one of them leaves open is no obstacle."""
    known = ((one.topic, other.topic), (one.partition, other.partition))
    return all(a is None or b is None or a == b for a, b in known) and _offsets_touch(one, other)


def _offsets_touch(one: Finding, other: Finding) -> bool:
    if one.first_offset is None or other.first_offset is None:
        return True
    last, its_last = (two.last_offset if two.last_offset is not None else two.first_offset for two in (one, other))
    return last is None or its_last is None or (one.first_offset <= its_last and other.first_offset <= last)


def lies_apart(one: DocumentFinding, other: DocumentFinding) -> bool:
    """Whether the stretches of two findings are known, by clocks that can be compared, and do not touch."""
    return is_later(one, other) or is_later(other, one)


def is_later(one: DocumentFinding, other: DocumentFinding) -> bool:
    """Whether a finding began after another one had ended."""
    mine, its = one.finding, other.finding
    if mine.has_zone != its.has_zone or mine.since is None:
        return False
    ended = its.until if its.until is not None else its.since
    return ended is not None and mine.since > ended


def _parts(one: DocumentFinding) -> list[str]:
    """The parts of the key: cluster, rule, who, producer id, epoch, transaction (findings/diagnosis.py)."""
    found = one.key.split("/")
    return found if len(found) == KEY_PARTS else [*found, *[""] * KEY_PARTS][:KEY_PARTS]
