"""What is drawn of a partition: every run of a producer's data in a stretch, and what the last stable offset hides."""

from pathlib import Path

import pytest

from kafkatx.histories.pictures import offsets
from kafkatx.histories.pictures.offsets import Fate, OffsetAxis, offset_axis
from tests.rules.cluster import Cluster


def cluster(folder: Path, transactions: int, *, is_open: bool) -> Cluster:
    made = Cluster(folder)
    for name in ("a", "b"):
        made.init(name)
    if is_open:
        made.begin("b", "orders-0")
    for number in range(transactions):
        made.begin("a", "orders-0", records=2)
        made.end("a", number % 4 != 0)
    return made


def axis(made: Cluster) -> OffsetAxis:
    model = made.model()
    found = [one for extent in model.log_extents.values() if (one := offset_axis(model, extent)) is not None]
    assert len(found) == 1
    return found[0]


def test_stretches_are_the_runs_of_producers(tmp_path: Path) -> None:
    drawn = axis(cluster(tmp_path, 8, is_open=False))
    assert [one.fate for one in drawn.stretches] == [Fate.aborted, Fate.committed, Fate.committed, Fate.committed] * 2
    assert [one.last - one.first for one in drawn.stretches] == [1] * 8
    assert (drawn.stable, drawn.hidden, drawn.holder_id) == (drawn.log_end, 0, None)


def test_behind_what_is_open_nothing_is_seen(tmp_path: Path) -> None:
    made = cluster(tmp_path, 3, is_open=True)
    drawn = axis(made)
    assert (drawn.stable, drawn.hidden) == (0, drawn.log_end)
    assert drawn.holder_id == made.ids["b"].producer_id
    assert [one.fate for one in drawn.stretches].count(Fate.open) == 1


@pytest.mark.parametrize("most", [0, 10])
def test_parts_count_what_begins_in_them_and_show_the_worst(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    made = cluster(tmp_path, 40, is_open=False)
    whole = axis(made)
    monkeypatch.setattr(offsets, "MOST_STRETCHES", most)
    monkeypatch.setattr(offsets, "BINS", 7)
    parted = axis(made)
    assert len(parted.stretches) == 7
    assert sum(one.count for one in parted.stretches) == len(whole.stretches)
    assert sum(one.records for one in parted.stretches) == sum(one.records for one in whole.stretches)
    for part in parted.stretches:
        inside = [one.fate for one in whole.stretches if one.first <= part.last and one.last >= part.first]
        assert part.fate == max(inside, key=offsets.FATES.index)


@pytest.mark.parametrize(("is_commit", "fate"), [(True, Fate.committing), (False, Fate.aborting)])
def test_a_stretch_is_told_as_its_transaction_is(tmp_path: Path, is_commit: bool, fate: Fate) -> None:
    """What the coordinator has decided is not told as open, and hides what is behind it all the same."""
    made = Cluster(tmp_path)
    made.init("a")
    made.begin("a", "orders-0", records=2)
    made.prepare("a", is_commit)
    made.plain("orders-0", 3)
    drawn = axis(made)
    assert [one.fate for one in drawn.stretches] == [fate]
    assert (drawn.stable, drawn.hidden) == (0, drawn.log_end)
