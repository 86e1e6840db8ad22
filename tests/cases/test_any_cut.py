"""Cuts at batch boundaries, repeats, overlaps and any spread over paths change nothing; what is lost can only weaken
a diagnosis.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kafkatx import __version__
from kafkatx.findings.diagnosis import Selection
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.transactions import ONGOING
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.stages.judging import diagnosed, united
from kafkatx.stages.models import build_models, open_captures
from kafkatx.terms.topics import TRANSACTION_STATE
from tests import declared
from tests.building import data_batch, segment
from tests.cases.cutting import Image, Layout, Loss, Segment, as_recorded, extremes, image, with_losses
from tests.cases.tables import differences
from tests.cases.weakening import overclaims

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

CUTS = int(os.environ.get("KAFKATX_EXAMPLES", "24"))
"""Random layouts of each capture, beside its extreme ones; with 300 and more by hand. Each run tries others."""
LOSSES = CUTS // 2
THOROUGH = settings(
    suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]
)

Document = dict[str, Any]


@pytest.mark.parametrize("name", CAPTURES)
def test_cuts_repeats_overlaps_and_spread_change_nothing(name: str, place: Path) -> None:
    whole_story, whole = _whole(name)

    @settings(THOROUGH, max_examples=CUTS)
    @given(_layouts(image(name)), st.permutations(range(4)))
    def check(layout: Layout, order: list[int]) -> None:
        model, found = _told(layout, place, order)
        assert differences(whole_story, model) == []
        assert _comparable(found) == _comparable(whole)

    check()


@pytest.mark.parametrize("name", CAPTURES)
def test_the_extremes_of_cuts_repeats_and_overlaps_change_nothing(name: str, place: Path) -> None:
    whole_story, whole = _whole(name)
    for layout, order in product(extremes(image(name)), ((0, 1, 2, 3), (3, 2, 1, 0))):
        model, found = _told(layout, place, order)
        assert differences(whole_story, model) == [], layout
        assert _comparable(found) == _comparable(whole), layout


@pytest.mark.parametrize("name", CAPTURES)
def test_what_is_torn_or_missing_only_weakens(name: str, place: Path) -> None:
    _, whole = _whole(name)

    @settings(THOROUGH, max_examples=LOSSES)
    @given(_losses(image(name)))
    def check(losses: list[Loss]) -> None:
        _, found = _told(with_losses(image(name), losses), place)
        traced = all(loss.leaves_a_trace(image(name)) for loss in losses)
        assert list(overclaims(whole["findings"], found["findings"], traced=traced)) == []

    check()


def test_rows_lost_of_one_id_move_no_clock_of_others(place: Path) -> None:
    """Three rows of a compacted topic fitted its later markers on a clock of their own, and matched others anew."""
    _, whole = _whole("k33-mixed")
    case = image("k33-mixed")
    (log,) = (log for log in case.segments if log.folder == "__transaction_state-0")
    lost = Loss(log.folder, (log.broker,), log.name, 12, 0, log.batches)
    _, found = _told(with_losses(case, [lost]), place)
    assert list(overclaims(whole["findings"], found["findings"], traced=lost.leaves_a_trace(case))) == []


@pytest.mark.parametrize("name", CAPTURES)
def test_claims_that_the_whole_evidence_refutes_would_be_seen(name: str) -> None:
    """What the losses must not lead to: findings that are surer, graver or new."""
    _, whole = _whole(name)
    guessed = [{**finding, "verdict": "possible", "severity": "info"} for finding in whole["findings"]]
    loud = [{**finding, "verdict": "likely", "severity": "warning"} for finding in whole["findings"]]
    assert list(overclaims(whole["findings"], guessed, traced=True)) == []
    assert len(list(overclaims(guessed, loud, traced=False))) == len(loud)
    assert len(list(overclaims([], loud, traced=False))) == len(loud)


def test_a_follower_that_diverged_is_of_the_same_capture_and_its_batches_are_told(place: Path) -> None:
    """Its last batches have the offsets of the leader's, other content and an older leader epoch."""
    _, whole = _whole("k39-fenced")
    layout = as_recorded(image("k39-fenced"))
    logs = {path: data for (_, path), data in layout.files.items() if path == "payments-0/00000000000000000000.log"}
    (path, data), *_ = logs.items()
    made = list(declared.batches(data))
    leaders = b"".join(_with_epoch(batch, 7 if batch.position >= made[-2].position else 3) for batch in made)
    strays = b"".join(_with_epoch(batch, 3) for batch in made[:-2]) + _stray(made[-2].base_offset)
    layout.files["broker-1.0", path] = leaders
    layout.roots.add(("broker-1.1", "broker-1"))
    layout.place_others(2)
    layout.files["broker-1.1", path] = strays
    _, found = _told(layout, place)
    assert _comparable(found)["findings"] == _comparable(whole)["findings"]
    assert {entry["capture"] for entry in found["coverage"]} == {found["findings"][0]["capture"]}
    assert [(entry["kind"], Path(entry["path"]).parts[-3]) for entry in found["damage"]] == [("diverged", "broker-1.1")]
    assert not [
        item for one in found["findings"] for item in one["evidence"] if "broker-1.1/payments-0" in item["source"]
    ]


def test_two_logs_under_one_name_without_a_cluster_id_are_two_captures(tmp_path: Path) -> None:
    for root, topic_id in (("one", 4_000), ("other", 5_000)):
        made = [data_batch(number, topic_id, str(topic_id).encode()) for number in range(3)]
        segment(tmp_path / root / "payments-0", made)
    found = document(diagnose([tmp_path / "one", tmp_path / "other"]), __version__)
    by_root = {Path(entry["path"]).parts[-3]: entry["capture"] for entry in found["coverage"]}
    assert len(set(by_root.values())) == 2
    assert not [entry for entry in found["damage"] if entry["kind"] == "diverged"]
    assert {(f["capture"], f["producer_id"]) for f in found["findings"]} == {
        (by_root["one"], 4_000),
        (by_root["other"], 5_000),
    }


def test_copies_of_one_log_without_a_cluster_id_are_one_capture(tmp_path: Path) -> None:
    made = [data_batch(number, 4_000, base_sequence=number) for number in range(5)]
    segment(tmp_path / "one" / "payments-0", made[:4])
    segment(tmp_path / "other" / "payments-0", made[2:], name="00000000000000000002.log")
    found = document(diagnose([tmp_path / "one", tmp_path / "other"]), __version__)
    assert len({entry["capture"] for entry in found["coverage"]}) == 1
    (finding,) = found["findings"]
    assert (finding["first_offset"], finding["last_offset"]) == (0, 4)


def test_a_tail_of_the_state_log_that_the_checkpoints_know_of_is_missed(place: Path) -> None:
    """An Ongoing row at the end of a log that went on proves nothing, though the file ends between two batches."""
    case = image("k39-client-aborts")
    (log,) = (log for log in case.segments if log.folder == "__transaction_state-0")
    ongoing = next(row for row in declared.transaction_states(log.data) if row.state == ONGOING)
    at = next(number for number, start in enumerate(log.starts) if start[0] == ongoing.position)
    loss = Loss(log.folder, (log.broker,), log.name, at + 1, 0, log.batches)
    _, found = _told(with_losses(case, [loss]), place)
    assert not [finding for finding in found["findings"] if finding["rule"] == "open_transaction"]
    assert any("open_transaction" in entry["rule"] for entry in found["not_checkable"])


def _with_epoch(batch: declared.Batch, leader_epoch: int) -> bytes:
    """The batch as another leader would have stored it: the epoch is not covered by the CRC."""
    return batch.data[:12] + leader_epoch.to_bytes(4, "big") + batch.data[16:]


def _stray(base_offset: int) -> bytes:
    """A batch that only the follower has."""
    (made,) = declared.batches(data_batch(base_offset, 99, b"never replicated"))
    return _with_epoch(made, 3)


@st.composite
def _losses(draw: st.DrawFn, case: Image) -> list[Loss]:
    copies: dict[tuple[str, str], list[Segment]] = {}
    for log in case.segments:
        copies.setdefault((log.folder, log.name), []).append(log)
    states = sorted(place for place in copies if place[0].startswith(TRANSACTION_STATE))
    chosen = draw(
        st.lists(st.sampled_from(states) | st.sampled_from(sorted(copies)), min_size=1, max_size=3, unique=True)
    )
    return [_loss(draw, copies[place]) for place in chosen]


def _loss(draw: st.DrawFn, copies: list[Segment]) -> Loss:
    batches = max(segment.batches for segment in copies)
    at = draw(st.integers(0, batches - 1))
    inside = draw(st.just(0) | st.integers(1, 60) | st.integers(1, 5_000))
    end = draw(st.just(batches) | st.integers(at + 1, at + 3))
    brokers = tuple(segment.broker for segment in copies)
    return Loss(
        copies[0].folder,
        draw(st.just(brokers) | st.sampled_from([(broker,) for broker in brokers])),
        copies[0].name,
        at,
        inside,
        end,
    )


@st.composite
def _layouts(draw: st.DrawFn, case: Image) -> Layout:
    layout = Layout(case)
    roots, reaches, repeats = st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)
    for log in case.segments:
        inside = st.integers(1, log.batches - 1)
        cuts = sorted(draw(st.sets(inside, max_size=3))) if log.batches > 1 else []
        for first, end in zip([0, *cuts], [*cuts, log.batches], strict=True):
            root, reach, repeat = draw(roots), draw(reaches), draw(repeats)
            name, data = log.piece(first, min(end + reach, log.batches))
            layout.place(log.broker, root, log.folder, name, data)
            if not repeat:
                layout.place(log.broker, root + 1, log.folder, name, data)
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


def _told(layout: Layout, place: Path, order: Iterable[int] = ()) -> tuple[CaptureModel, Document]:
    """Model and document of a layout; one reading for both."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        paths = layout.write(Path(folder), order)
        (told,) = build_models(open_captures(paths, _forced(layout.image, paths)))
        found = united([diagnosed(told, Selection())], [])
    found.findings.sort(key=lambda one: one.id)
    return told.model, document(found, __version__)


@cache
def _whole(name: str) -> tuple[CaptureModel, Document]:
    with tempfile.TemporaryDirectory() as folder:
        return _told(as_recorded(image(name)), Path(folder))


def _comparable(found: Document) -> Any:
    """All but what names files."""
    return _stripped({name: value for name, value in found.items() if name != "coverage"})


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _stripped(item) for name, item in value.items() if name not in ("source", "position")}
    return [_stripped(item) for item in value] if isinstance(value, list) else value
