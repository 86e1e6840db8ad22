"""A large capture is joined partition by partition on this machine too: the same document, in few bytes."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kafkatx.findings.diagnosis import Selection
from kafkatx.outputs.diagnosis_json import document
from kafkatx.stages import joining_here, models
from kafkatx.stages.counting import HELD_UP_TO
from kafkatx.stages.joining_here import Held, Room
from kafkatx.stages.judging import diagnosed, united
from kafkatx.stages.models import JudgedCapture, build_models, open_evidence
from tests.benchmarks import generate
from tests.evidence import all_cases, broker_folders

ON_DISK = [case for case in all_cases() if broker_folders(case)]
STEP = 8
"""Every eighth case is tried in each run, the others with `-m repeats`."""
HELD_BYTES, WAITING_BYTES = 200, 110
"""Of a transaction of two partitions: bounds at the end, and of what waits in between once there is no room."""


def told(paths: list[Path], held_up_to: int | None = 0) -> tuple[dict[str, Any], list[JudgedCapture]]:
    """The document, and the captures that it is of."""
    stories = [*build_models(open_evidence(paths).captures, held_up_to=held_up_to)]
    parts = [diagnosed(story, Selection()) for story in stories]
    return document(united(parts, open_evidence(paths).others), ""), stories


@pytest.fixture(params=[0, 1 << 30], ids=["packed", "as it is"])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Captures of any size are joined partition by partition; what waits is packed, or is not."""
    monkeypatch.setattr(models, "LEAST_COUNTED_BYTES", 0)
    monkeypatch.setattr(joining_here, "ROOM_BYTES", request.param)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=pytest.mark.repeats if number % STEP else ())
        for number, case in enumerate(ON_DISK)
    ],
)
def test_every_recorded_case_tells_the_same(case: Path, room: None) -> None:
    paths = broker_folders(case)
    whole = told(paths, None)[0]
    assert told(paths)[0] == whole
    assert told(paths, HELD_UP_TO)[0] == whole


@pytest.mark.parametrize("is_spread", [True, False], ids=["spread", "tiny"])
def test_generated_clusters_tell_the_same(is_spread: bool, room: None, tmp_path: Path) -> None:
    many = 20 * 64 * 4
    directory = generate.spread(tmp_path, many, coordinators=4) if is_spread else generate.tiny(tmp_path, many)
    found, (story,) = told([directory])
    assert found == told([directory], None)[0]
    assert story.model.counted.transactions > 0.7 * many


def test_a_few_transactions_are_all_held(tmp_path: Path) -> None:
    _, (story,) = told([generate.spread(tmp_path / "made", 50 * 64)])
    assert not story.model.counted.transactions


def arrays(thing: Any, seen: set[int]) -> Iterator[np.ndarray[Any, Any]]:
    """All arrays that a model holds, each once; columns of one value take nothing."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing if thing.strides and all(thing.strides) else thing[:0]
    elif isinstance(thing, dict | list | tuple):
        for one in thing.values() if isinstance(thing, dict) else thing:
            yield from arrays(one, seen)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            yield from arrays(getattr(thing, field.name), seen)


def test_a_transaction_of_two_partitions_takes_few_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Counted are arrays, so the bound is exact: what is held for twice as many, less what is held for these."""
    monkeypatch.setattr(models, "LEAST_COUNTED_BYTES", 0)
    monkeypatch.setattr(joining_here, "ROOM_BYTES", 0)
    waited: list[int] = []

    class Counting(Held):
        def __init__(self, array: Any, room: Room) -> None:
            super().__init__(array, room)
            waited.append(self.nbytes)

    monkeypatch.setattr(joining_here, "Held", Counting)
    held, waiting = [], []
    counts = 20 * 64 * 4, 40 * 64 * 4
    for count in counts:
        waited.clear()
        directory = generate.spread(tmp_path / str(count), count, coordinators=4)
        (story,) = build_models(open_evidence([directory]).captures, held_up_to=0)
        held.append(sum(array.nbytes for array in arrays(story.model, set())))
        waiting.append(sum(waited))
    more = counts[1] - counts[0]
    assert held[1] - held[0] < HELD_BYTES * more
    assert waiting[1] - waiting[0] < WAITING_BYTES * more


@pytest.mark.parametrize("array", [np.arange(9) << 40, np.zeros(0, np.int32), np.array([-1, 7], np.int32)])
@pytest.mark.parametrize("left", [0, 1 << 20])
def test_what_waits_comes_back(array: Any, left: int) -> None:
    found = Held(array.copy(), Room(left)).take()
    assert found.dtype == array.dtype
    assert found.tolist() == array.tolist()
