"""One answer on any number of cores: documents, order of files, errors; and no thread is left."""

import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kafkatx import __version__
from kafkatx.evidence import parted, stretches
from kafkatx.local import cores, segment_check
from kafkatx.local.diagnosis import diagnose
from kafkatx.local.verification import verify
from kafkatx.outputs import diagnosis_json, verify_json
from kafkatx.segments import batches as walks
from tests.evidence import broker_folders, fixture_cases
from tests.evidence.test_stretches import damaged
from tests.segments.roads import by_blocks, by_steps

CASES = [case for case in fixture_cases() if broker_folders(case)]
STRETCH_BYTES = 700


@pytest.fixture(autouse=True)
def small_stretches(monkeypatch):
    """Stretches so small that recorded files have several."""
    for module in (walks, stretches):
        monkeypatch.setattr(module, "STRETCH_BYTES", STRETCH_BYTES)
    monkeypatch.setattr(segment_check, "RECORDS_STRETCH_BYTES", STRETCH_BYTES)
    monkeypatch.setattr(cores, "WORTH_THREADS", 0)


@pytest.fixture
def on_cores(monkeypatch):
    """Run something as if the process had so many cores."""

    def run(count, what):
        monkeypatch.setattr(cores, "cores", lambda: count)
        seen = []
        document = what(lambda path, size: seen.append((path, size)))
        assert not [thread for thread in threading.enumerate() if thread.daemon and "_work" in thread.name]
        return document, seen

    return run


def documents(paths):
    """What is asked of them: functions of a progress."""
    return [
        lambda tick: diagnosis_json.to_json(diagnose(paths, progress=tick), __version__),
        lambda tick: diagnosis_json.to_json(diagnose(paths, progress=tick, verify_all=True), __version__),
        lambda tick: verify_json.to_json(verify(paths, progress=tick), __version__),
        lambda tick: verify_json.to_json(verify(paths, progress=tick, records=True), __version__),
    ]


@pytest.mark.parametrize("case", CASES[::5], ids=lambda case: case.name)
def test_recorded_cases_on_any_number_of_cores(case, on_cores):
    for what in documents(broker_folders(case)):
        alone = on_cores(1, what)
        assert on_cores(2, what) == alone
        assert on_cores(5, what) == alone


def damaged_case(folder, seed):
    """Put a recorded case under `folder`, half of its segments damaged."""
    chance = random.Random(seed)
    for place in broker_folders(chance.choice(CASES)):
        shutil.copytree(place, folder / place.name)
    for path in sorted(folder.rglob("*.log")):
        if chance.random() < 0.5 and path.stat().st_size:
            kind = chance.choice(["flip", "zero", "cut", "remove", "insert", "repeat"])
            path.write_bytes(damaged(bytearray(path.read_bytes()), kind, chance))


@pytest.mark.parametrize("seed", range(12))
def test_damaged_cases_on_any_number_of_cores(seed, tmp_path, on_cores):
    damaged_case(tmp_path, seed)
    for what in documents([tmp_path]):
        alone = on_cores(1, what)
        assert on_cores(3, what) == alone


@pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="this system does not tell what is at hand")
@pytest.mark.parametrize("number", range(len(CASES[::9]) + 6))
def test_cases_by_steps_and_by_blocks(number, tmp_path, on_cores):
    if number < 6:
        damaged_case(tmp_path, 100 + number)
    for what in documents([tmp_path] if number < 6 else broker_folders(CASES[::9][number - 6])):
        with by_blocks():
            alone = on_cores(1, what)
        for count in (1, 3):
            with by_steps():
                assert on_cores(count, what) == alone


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("number", range(4))
def test_what_is_stopped_leaves_no_thread(count, number, monkeypatch):
    monkeypatch.setattr(cores, "cores", lambda: count)
    before, seen = threading.active_count(), []

    def stop(path, size):
        seen.append(path)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        documents(broker_folders(CASES[0]))[number](stop)
    assert threading.active_count() == before


class Bug(Exception):
    """An error of ours."""


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("number", range(4))
def test_a_bug_in_any_thread_ends_the_command(count, number, monkeypatch):
    monkeypatch.setattr(cores, "cores", lambda: count)
    before = threading.active_count()

    def raising(blocks):
        raise Bug

    monkeypatch.setattr(parted, "_blocks", raising)
    with pytest.raises(Bug):
        documents(broker_folders(CASES[0]))[number](None)
    assert threading.active_count() == before


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_a_process_that_is_held_to_one_core_has_one():
    code = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); from kafkatx.local.cores import cores"
    done = subprocess.run([sys.executable, "-c", f"{code}; print(cores())"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_small_evidence_has_no_threads(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(cores, "cores", lambda: 8)
    monkeypatch.setattr(threading.Thread, "start", lambda thread: pytest.fail("a thread was started"))
    assert verify(map(Path, broker_folders(CASES[0]))).has_read
