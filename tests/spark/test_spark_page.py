"""docs/spark.md: its Python and its export run from top to bottom, print what stands there, and answer rightly."""

import contextlib
import io
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.evidence import ROOT, fixtures
from tests.spark.answers import Fleet

PAGE = ROOT / "docs/spark.md"
BLOCK = re.compile(
    r"^```(?P<language>python|sh)\n(?P<code>.*?)^```\n(?:\n^```text\n(?P<printed>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
COMMAND = "kafkatx export "
"""What shell blocks are run; the others install, or name a cluster's paths."""

SETTINGS = (
    "spark.sql.session.timeZone",
    "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.sql.execution.arrow.maxBytesPerBatch",
)
"""What the page sets in the session, which other tests share."""

VIEWS = ("batches", "markers", "transaction_states", "transactions", "captures")


@dataclass
class Run:
    """The page as it ran: the names that it made, and what its blocks printed."""

    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "example"})
    printed: list[tuple[re.Match[str], str]] = field(default_factory=list)

    def python(self, block: re.Match[str]) -> None:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(block["code"], str(PAGE), "exec"), self.names)
        printed = output.getvalue()
        self.printed.append((block, printed.rstrip("\n") + "\n" if printed else ""))

    def shell(self, block: re.Match[str]) -> None:
        command = block["code"].replace("kafkatx", f"'{sys.executable}' -m kafkatx", 1)
        subprocess.run(["sh", "-c", command], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """All rows of a frame of the page, with times as Arrow has them."""
        found: list[dict[str, Any]] = self.names[name].toArrow().to_pylist()
        return found


@pytest.fixture(scope="module")
def page(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run the page in a folder that it may write to."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "fixtures").symlink_to(fixtures())
    run = Run()
    before = {name: spark.conf.get(name) for name in SETTINGS}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in BLOCK.finditer(PAGE.read_text()):
            if block["language"] == "python":
                run.python(block)
            elif block["code"].startswith(COMMAND):
                run.shell(block)
        yield run
    for name in VIEWS:
        spark.catalog.dropTempView(name)
    spark.sql("DROP TEMPORARY FUNCTION IF EXISTS application")
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.fixture(scope="module")
def fleet(page: Run) -> Fleet:
    return Fleet(fixtures().parent / path for path in page.names["fleet"])


def test_every_block_prints_what_stands_below_it(page: Run, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        text = PAGE.read_text()
        for block, printed in page.printed:
            if block["printed"] is not None:
                text = text.replace(block[0], f"```python\n{block['code']}```\n\n```text\n{printed}```\n")
        PAGE.write_text(text)
        return
    for block, printed in page.printed:
        assert printed == (block["printed"] or "")


def test_the_export_is_of_the_fleet_that_is_read(page: Run) -> None:
    (export,) = [block["code"] for block in BLOCK.finditer(PAGE.read_text()) if block["code"].startswith(COMMAND)]
    given = [path for word in export.split() if word.startswith("fixtures/") for path in fixtures().parent.glob(word)]
    assert sorted(str(path.relative_to(fixtures().parent)) for path in given) == page.names["fleet"]


def test_the_diagnosis_is_that_of_this_machine(page: Run) -> None:
    import kafkatx

    here = kafkatx.diagnose([fixtures().parent / path for path in page.names["fleet"]])
    assert [found.finding.summary for found in page.names["diagnosis"].findings] == [
        found.finding.summary for found in here.findings
    ]


def test_the_markers_that_are_counted_are_those_of_the_table(page: Run, fleet: Fleet) -> None:
    since = datetime(2026, 11, 21, 10, 30, tzinfo=UTC)
    kinds = Counter(row["kind"] for row in fleet.markers if row["timestamp"] >= since)
    block = next(printed for block, printed in page.printed if "markers.groupBy" in block["code"])
    assert dict(re.findall(r"(\w+)\|\s*(\d+)\|", block)) == {kind: str(count) for kind, count in kinds.items()}
    assert len(fleet.markers) > kinds.total()


def test_the_aborted_share_is_that_of_the_transactions(page: Run, fleet: Fleet) -> None:
    rows = page.rows("aborted")
    assert {(row["application"], row["hour"]): (row["decided"], row["aborted"]) for row in rows} == fleet.aborted()
    assert all(row["percent"] == pytest.approx(100 * row["aborted"] / row["decided"], abs=0.05) for row in rows)
    assert [row["percent"] for row in rows] == sorted((row["percent"] for row in rows), reverse=True)


def test_the_longest_transactions_last_as_long_as_their_rows_say(page: Run, fleet: Fleet) -> None:
    rows, wanted = page.rows("longest"), fleet.longest()
    told = [tuple(row[name] for name in ("capture", "transactional_id", "outcome", "still")) for row in rows]
    assert sorted(map(str, told)) == sorted(str(row[:-1]) for row in wanted)
    assert [row["seconds"] for row in rows] == pytest.approx([row[-1] for row in wanted])
    assert told[:6] == [row[:-1] for row in wanted[:6]]


def test_ids_that_never_fence_are_those_whose_lives_follow_each_other(page: Run, fleet: Fleet) -> None:
    rows = page.rows("never_fencing")
    assert {
        (row["capture"], row["application"]): (row["ids"], row["lives"], row["successors"]) for row in rows
    } == fleet.never_fencing()


def test_what_the_rule_calls_unstable_is_among_them(page: Run) -> None:
    found = [one.finding for one in page.names["diagnosis"].findings if one.finding.rule == "unstable_transactional_id"]
    listed = " ".join(row["application"] for row in page.rows("never_fencing"))
    assert len(found) == 1
    assert "ledger-writer" in listed
    assert "ledger-writer" in found[0].summary


def test_who_held_the_last_stable_offset_is_who_was_open_first(page: Run, fleet: Fleet) -> None:
    rows, wanted = page.rows("holders"), fleet.holders()
    places = [(row["capture"], row["topic"], row["partition"], row["first_offset"]) for row in rows]
    told = [(row["producer_id"], row["transactional_id"], row["still"]) for row in rows]
    assert dict(zip(places, told, strict=True)) == {place: found[:-1] for place, found in wanted.items()}
    assert len(set(places)) == len(places)
    assert [row["seconds"] for row in rows] == pytest.approx([wanted[place][-1] for place in places])
    assert [row["seconds"] for row in rows] == sorted((row["seconds"] for row in rows), reverse=True)


def test_who_has_no_id_and_holds_it_still_hangs(page: Run) -> None:
    nameless = {
        (row["topic"], row["partition"], row["first_offset"])
        for row in page.rows("holders")
        if row["transactional_id"] is None and row["still"]
    }
    found = [one.finding for one in page.names["diagnosis"].findings if one.finding.rule == "hanging_transaction"]
    assert nameless == {(one.topic, one.partition, one.first_offset) for one in found}
    assert nameless


def test_epochs_are_used_as_the_rows_of_an_id_tell(page: Run, fleet: Fleet) -> None:
    rows, wanted = page.rows("exhaustion"), fleet.exhaustion()
    told = {(row["capture"], row["transactional_id"]): (row["epochs"], row["epoch_now"]) for row in rows}
    assert told == {key: found[:2] for key, found in wanted.items()}
    for row in rows:
        days = wanted[row["capture"], row["transactional_id"]][2]
        assert row["days_left"] == pytest.approx(days, abs=0.005, rel=1e-6)
    assert {row["protocol"] for row in rows} == {"classic", "v2"}
