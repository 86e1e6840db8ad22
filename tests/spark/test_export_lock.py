"""Two exports by Spark don't write to one place at a time; a run whose process is gone keeps nobody out."""

import json
import subprocess
import sys

import pytest

from kafkatx.spark.export_lock import LOCK, locked
from kafkatx.spark.export_store import ExportStore
from kafkatx.terms.errors import OutputError


def test_the_second_one_is_told_who_writes_since_when_and_what_to_do(tmp_path):
    store = ExportStore(str(tmp_path / "out"))
    with locked(store, "0123456789abcdef"):
        with (
            pytest.raises(OutputError, match=r"another export, run 0123456789abcdef, writes to .*out since 2") as told,
            locked(store, "fedcba9876543210"),
        ):
            pass
        assert str(tmp_path / "out" / LOCK) in told.value.advice[0]
        assert json.loads((tmp_path / "out" / LOCK).read_text())["run_id"] == "0123456789abcdef"
    assert not (tmp_path / "out" / LOCK).exists()


def test_it_goes_with_a_run_that_fails(tmp_path):
    store = ExportStore(str(tmp_path))
    with pytest.raises(KeyboardInterrupt), locked(store, "0"):
        raise KeyboardInterrupt
    with locked(store, "0"):
        pass


def test_of_a_process_that_was_killed_it_is_taken_over(tmp_path):
    dies = (
        "import os, sys\nfrom kafkatx.spark.export_lock import locked\n"
        "from kafkatx.spark.export_store import ExportStore\n"
        "held = locked(ExportStore(sys.argv[1]), '0')\nheld.__enter__()\nos.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", dies, str(tmp_path)], check=False)
    assert (tmp_path / LOCK).exists()
    with locked(ExportStore(str(tmp_path)), "1"):
        pass
    assert not (tmp_path / LOCK).exists()


def test_of_another_machine_a_person_decides_and_what_was_cut_short_says_nothing(tmp_path):
    owner = {"run_id": "0", "machine": "elsewhere", "process": 1, "began": "1", "since": "2026-11-21T10:00:00Z"}
    (tmp_path / LOCK).write_text(json.dumps(owner))
    with pytest.raises(OutputError, match="process 1 of elsewhere"), locked(ExportStore(str(tmp_path)), "1"):
        pass
    assert (tmp_path / LOCK).exists()
    (tmp_path / LOCK).write_text(json.dumps(owner)[:20])
    with locked(ExportStore(str(tmp_path)), "1"):
        pass
