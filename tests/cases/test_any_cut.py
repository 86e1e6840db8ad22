"""Cuts at batch boundaries, repeats, overlaps and any spread over paths change nothing; what is lost can only weaken
a diagnosis.
"""

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kafkatx import __version__
from kafkatx.histories.story import Story
from kafkatx.local.diagnosis import diagnose
from kafkatx.local.stories import build_stories, open_captures
from kafkatx.outputs.diagnosis_json import document
from tests.cases.cutting import Image, Layout, as_recorded, image
from tests.cases.tables import differences

CAPTURES = (
    "k011-clean",
    "k10-hanging",
    "k24-unresolved",
    "k33-mixed",
    "k39-client-aborts",
    "k39-hanging",
    "c3-atomicity",
    "c3-stuck-prepare",
    "k4-admin-abort",
    "k4-tv2-fenced",
)
"""Ten captures of seven releases: with and without cluster.id, one to three brokers, retention, compaction, both
protocols.
"""

EXAMPLES = 20
THOROUGH = settings(
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)

Document = dict[str, Any]


@pytest.mark.parametrize("name", CAPTURES)
def test_cuts_repeats_overlaps_and_spread_change_nothing(name: str, place: Path) -> None:
    whole_story, whole = _story(as_recorded(image(name)), place), _whole(name)

    @THOROUGH
    @given(_layouts(image(name)), st.permutations(range(4)))
    def check(layout: Layout, order: list[int]) -> None:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            paths = layout.write(Path(folder), order)
            assert differences(whole_story, _story_of(layout.image, paths)) == []
            assert _comparable(_document(layout.image, paths)) == _comparable(whole)

    check()


@st.composite
def _layouts(draw: st.DrawFn, case: Image) -> Layout:
    layout = Layout(case)
    roots, reaches, repeats = st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)
    for segment in case.segments:
        inside = st.integers(1, segment.batches - 1)
        cuts = sorted(draw(st.sets(inside, max_size=3))) if segment.batches > 1 else []
        for first, end in zip([0, *cuts], [*cuts, segment.batches], strict=True):
            root, reach, repeat = draw(roots), draw(reaches), draw(repeats)
            name, data = segment.piece(first, min(end + reach, segment.batches))
            layout.place(segment.broker, root, segment.folder, name, data)
            if not repeat:
                layout.place(segment.broker, root + 1, segment.folder, name, data)
    for broker in case.others:
        layout.roots.add((f"{broker}.0", broker))
    layout.place_others(draw(st.integers(1, 2)))
    return layout


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder in memory where there is one: three thousand small directories are written into it."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def _forced(case: Image, paths: list[Path]) -> dict[str, str] | None:
    """Without a cluster.id only the user can say that several roots are of one cluster."""
    return None if case.has_cluster_id else {str(path): "the cluster" for path in paths}


def _story(layout: Layout, place: Path) -> Story:
    with tempfile.TemporaryDirectory(dir=place) as folder:
        return _story_of(layout.image, layout.write(Path(folder)))


def _story_of(case: Image, paths: list[Path]) -> Story:
    (told,) = build_stories(open_captures(paths, _forced(case, paths)))
    return told.story


def _document(case: Image, paths: list[Path]) -> Document:
    return document(diagnose(paths, captures=_forced(case, paths)), __version__)


@cache
def _whole(name: str) -> Document:
    with tempfile.TemporaryDirectory() as folder:
        layout = as_recorded(image(name))
        return _document(layout.image, layout.write(Path(folder)))


def _comparable(found: Document) -> Any:
    """All but what names files."""
    return _stripped({name: value for name, value in found.items() if name != "coverage"})


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _stripped(item) for name, item in value.items() if name not in ("source", "position")}
    return [_stripped(item) for item in value] if isinstance(value, list) else value
