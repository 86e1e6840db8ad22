"""The pictures of recorded cases: one axis of time, what is open to its end, and a story's ids in its order."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kafkatx.findings.diagnosis import Diagnosed
from kafkatx.findings.finding import Finding
from kafkatx.histories.pictures.lanes import lane_chart
from kafkatx.histories.timeline import book_of
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_order import Story
from kafkatx.outputs.page import pictures
from kafkatx.outputs.page.drawing import RIGHT, Picture, timeline_picture
from kafkatx.outputs.page.pictures import CapturePictures, Pictures
from kafkatx.terms.verdicts import Severity, Verdict
from tests.evidence import fixtures
from tests.histories.log_facts import FENCED, facts
from tests.histories.pictures.test_lanes import busy
from tests.rules.cluster import SECOND, START, Cluster
from tests.rules.log_told import Client, beside

CASES = ("c3-storm", "k39-open", "k39-unstable-id", "k39-eos-groups", "k27-client-versions")
FINDING = Finding(
    rule="any", verdict=Verdict.proved, severity=Severity.error, title="t", summary="s", since=40_000, until=50_000
)


@cache
def drawn(*paths: Path) -> CapturePictures:
    """The pictures of the one capture in these paths."""
    found = Pictures()
    diagnose(list(paths), show=found.add)
    (capture,) = found.captures
    return capture


def wholes(capture: CapturePictures) -> list[Picture]:
    return [group.whole for group in capture.groups if group.whole is not None]


@pytest.mark.parametrize("name", CASES)
def test_all_pictures_of_a_capture_have_one_axis(name: str) -> None:
    assert len({picture.ticks for picture in wholes(drawn(fixtures() / name))}) == 1


@pytest.mark.parametrize("name", CASES)
def test_what_has_not_ended_is_drawn_to_the_end_of_the_axis(name: str) -> None:
    bars = [bar for picture in wholes(drawn(fixtures() / name)) for bar in picture.bars]
    is_open = {"open", "committing", "aborting"}
    assert [bar.is_open for bar in bars] == [bar.kind in is_open for bar in bars]
    assert all(bar.x + bar.width == pytest.approx(RIGHT, abs=0.31) for bar in bars if bar.is_open)


def test_the_open_transaction_of_an_incident_is_its_longest_bar() -> None:
    """It is the story; one that had just begun when the evidence ended is a mark at the end."""
    groups = {one.name: group for group in drawn(fixtures() / "k39-open").groups for one in group.ids}
    story, healthy = groups["batch-loader-7"].whole, groups["payments-eu-1"]
    assert story is not None
    assert healthy.whole is not None
    assert max(story.bars, key=lambda bar: bar.width).kind == "open"
    assert max(bar.width for bar in story.bars) > 80
    assert max(bar.width for bar in healthy.whole.bars) < 2
    assert healthy.close is None


def test_ids_of_one_story_are_lanes_of_one_picture_in_the_order_of_their_starts() -> None:
    first, second = drawn(fixtures() / "k39-unstable-id").groups
    assert [one.name[14:18] for one in first.ids] == ["7c9e", "f47a", "2b1d"]
    assert [one.findings for one in second.ids] == [(), ()]
    assert first.whole is not None
    producers = [name.whole for name in first.whole.names if "producer id" in name.whole]
    assert [name.split(":")[0] for name in producers] == [one.name for one in first.ids]
    starts = [mark.x for mark in first.whole.marks if mark.kind == "start"]
    assert starts == sorted(starts)
    times = [at for at, _, _ in first.events]
    assert times == sorted(times)


@pytest.mark.parametrize("name", ["c3-storm", "c3-stuck-prepare"])
def test_a_decided_transaction_is_nowhere_told_as_open(name: str) -> None:
    """Its bar, its stretch of offsets and the table of all ids say one thing."""
    capture = drawn(fixtures() / name)
    kinds = {kind for picture in (*wholes(capture), *capture.partitions) for kind in picture.kinds}
    assert "committing" in kinds
    assert "open" not in kinds
    (row,) = [row for row in capture.members.rows if row.open]
    assert row.longest.endswith(", not ended")


def place_of(picture: Picture, offset: int) -> float:
    """Where an offset is by the ticks of its axis."""
    first, *_, last = [(float(tick.text.replace(",", "")), tick.x) for tick in picture.ticks]
    return first[1] + (offset - first[0]) * (last[1] - first[1]) / (last[0] - first[0])


@pytest.mark.parametrize("name", CASES)
def test_the_last_stable_offset_is_written_where_it_is(name: str) -> None:
    for picture in drawn(fixtures() / name).partitions:
        hidden = [mark for mark in picture.marks if mark.kind == "hidden"]
        assert len(hidden) == len(picture.labels)
        for label, mark in zip(picture.labels, hidden, strict=True):
            stable = label.text.removeprefix("LSO ")
            assert mark.says.startswith(f"offsets {stable} to ")
            assert label.x == mark.x == pytest.approx(place_of(picture, int(stable.replace(",", ""))), abs=0.05)


def told(severity: Severity) -> Story:
    one = Diagnosed("a", "c", None, replace(FINDING, severity=severity), [], None)
    return Story(one, (one,))


def test_around_what_went_wrong_is_within_the_evidence() -> None:
    assert pictures._around(told(Severity.error), (0, 1_000_000)) == (37_500, 52_500)
    assert pictures._around(told(Severity.error), (39_500, 1_000_000)) == (39_500, 52_500)
    assert pictures._around(told(Severity.error), (0, 50_100)) is None  # no shorter than the whole
    assert pictures._around(told(Severity.info), (0, 1_000_000)) is None
    assert pictures._around(None, (0, 1_000_000)) is None


def test_an_open_transaction_of_which_nobody_says_anything_has_the_same_axis(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    for name in ("orders-1", "orders-2"):
        cluster.init(name)
        cluster.run(name, f"{name}-0")
    cluster.begin("orders-2", "orders-2-0")
    cluster.wait(40 * SECOND)
    cluster.beat()
    capture = drawn(*cluster.write())
    assert len({picture.ticks for picture in wholes(capture)}) == 1
    (row,) = [row for row in capture.members.rows if row.open]
    assert row.name == "orders-2"
    assert row.longest.startswith("40")
    assert capture.members.columns == ("worst", "not ended", "median", "longest")


def test_columns_over_time_are_of_one_scale(tmp_path: Path) -> None:
    """What is twice as high is twice as much, in whatever row it stands."""
    cluster = Cluster(tmp_path)
    for name, times in (("busy", 8), ("calm", 4)):
        cluster.init(name)
        cluster.run(name, f"{name}-0", times=times)
    cluster.wait(3_600 * SECOND)
    cluster.beat()
    capture = drawn(*cluster.write())
    tops = {
        row.name: max(int(part.split("h")[0]) for part in row.begun.split("v-")[1:]) for row in capture.members.rows
    }
    assert capture.members.highest == 8
    assert (tops["busy"], tops["calm"]) == (24, 12)


def test_a_log_of_an_id_alone_stands_with_it() -> None:
    story = drawn(fixtures() / "k39-unstable-id").groups[0].whole
    assert story is not None
    assert [name.text.endswith(".log") for name in story.names] == [False, True] * 3


def test_a_log_of_several_ids_has_one_lane_below_all_others(tmp_path: Path) -> None:
    cluster = busy(tmp_path, 1, 2)
    client = Client(path="a.log").start(START, cluster.ids["orders-1"].producer_id, 0).fatal(START + SECOND, FENCED)
    model = beside(cluster, facts(client.said))
    chart = lane_chart(next(one for one in book_of(model).timelines() if one.transactional_id == "orders-1"))
    assert chart is not None
    alone, both = timeline_picture("one", [("a", chart)]), timeline_picture("two", [("a", chart), ("b", chart)])
    (lane,) = (name.whole for name in alone.names if name.whole != "a.log")
    assert lane.startswith("T1, producer id")
    shown = lane.removeprefix("T1, ")
    assert [name.whole for name in both.names] == [f"a: {shown}", f"b: {shown}", "a.log"]
    assert both.height > alone.height
    lines = [mark.y for mark in both.marks if mark.kind in ("line", "error")]
    assert set(lines) == {max(mark.y for mark in both.marks)}
    assert len(lines) == 2 * len(chart.log_ticks)
