"""Killed at any step, an export leaves nothing that looks finished, and the same command makes it whole."""

import json
import subprocess
import sys

import pytest

from tests.evidence import ROOT


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    done = subprocess.run(
        [sys.executable, "-m", "tests.outputs.parquet.killing", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module", params=["new", "over", "more"])
def steps(request, lines):
    return [line for line in lines if line["kind"] == request.param]


def whole(steps):
    """What an export that nobody killed leaves."""
    (found,) = [line["found"] for line in steps if line["status"] == 0]
    return found


def test_every_step_was_tried_and_the_last_run_was_not_killed(steps):
    killed = [line for line in steps if line["status"]]
    assert {line["status"] for line in killed} == {9}
    assert len(killed) > 30
    assert {line["at"].split()[0] for line in killed} >= {"open", "os.rename", "os.mkdir", "os.remove"}
    assert whole(steps)["succeeded"]


def test_what_is_there_after_a_kill_is_old_or_new_and_whole(steps):
    old = steps[0]["found"]["files"]
    new = whole(steps)["files"]
    assert old != new
    for line in steps:
        assert line["found"]["files"] in (old, new, {}), line["at"]
        assert line["found"]["files"] or line["kind"] == "new", line["at"]


def test_nothing_is_called_finished_that_is_not(steps):
    for line in steps:
        if line["found"]["succeeded"]:
            assert line["found"]["files"] in (steps[0]["found"]["files"], whole(steps)["files"]), line["at"]
        assert set(line["found"]["beside"]) <= {".tables.partial"}, line["at"]


def test_earlier_runs_are_whole_at_every_moment_and_files_of_theirs_never_change(steps):
    if steps[0]["kind"] == "more":
        old = {name: data for name, data in steps[0]["found"]["files"].items() if name.endswith(".parquet")}
        for line in steps:
            assert line["found"]["succeeded"], line["at"]
            assert old.items() <= line["found"]["files"].items(), line["at"]
        assert len(whole(steps)["files"]) == len(old) + 3


def test_the_same_export_run_again_is_whole_and_leaves_nothing_beside(steps):
    for line in steps:
        assert line["again"] == 0, line["at"]
        assert line["at_last"] == whole(steps), line["at"]
        assert line["at_last"]["beside"] == []
