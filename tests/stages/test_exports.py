"""What can't be diagnosed of an export is refused with the way out, and what somebody made of one runs nothing."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.log_reading import FileFacts
from kafkatx.evidence.stretches import NO_END, SplitSummary
from kafkatx.kernels.rows import EVENT
from kafkatx.local.diagnosis import diagnose
from kafkatx.segments.resync import ExpectedNext
from kafkatx.stages.codec import encode
from kafkatx.stages.export_manifest import FORMAT, MANIFEST, SUCCESS
from kafkatx.stages.exporting import fact_table
from kafkatx.stages.fact_batches import LARGEST_PIECE
from kafkatx.stages.fact_types import FactsHead, declarations
from kafkatx.stages.facts import LAYOUT, FactKind
from kafkatx.stages.models import open_evidence
from kafkatx.stages.parquet_parts import DEFAULT_SIZES
from kafkatx.terms.errors import KafkatxError, UsageError
from kafkatx.text.events import LogFacts
from tests.evidence import fixtures
from tests.exports import attest, exported, restated, rewritten, said

CASE = fixtures() / "f-other-clients"
STATE_LOG = b"__transaction_state-0/00000000000000000000.log"
RAN: list[str] = []


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported([CASE], tmp_path_factory.mktemp("exports") / "export", DEFAULT_SIZES)


@pytest.fixture
def target(made, tmp_path):
    """An export of one case, to be changed."""
    return shutil.copytree(made, tmp_path / "export")


def test_an_export_beside_other_paths_is_refused(target):
    with pytest.raises(UsageError, match=r"export is an export and .*f-other-clients is none; give either"):
        diagnose([target, CASE])


def test_what_the_export_has_settled_can_not_be_asked_for_again(target):
    with pytest.raises(UsageError, match="was exported without --verify"):
        diagnose([target], verify_all=True)
    with pytest.raises(UsageError, match="--capture says what files belong to: give it to kafkatx export"):
        diagnose([target], captures={"x": "y"})


def test_an_export_that_is_not_finished_is_refused(target):
    (target / SUCCESS).unlink()
    with pytest.raises(UsageError, match=r"is not finished; the command that began it goes on with it"):
        diagnose([target])


def test_an_export_of_another_release_is_read_as_long_as_its_layout_is_known(target, made):
    restated(target, kafkatx="0.0.1")
    assert said(diagnose, [target]) == said(diagnose, [made])


@pytest.mark.parametrize("layout", [None, 1, 99])
def test_facts_of_another_layout_are_refused_by_its_number(target, layout):
    restated(target, facts_layout=layout, kafkatx="0.0.2")
    text = rf"holds facts of layout {layout}, of kafkatx 0\.0\.2; this is .* reads layout {LAYOUT}: export them again"
    with pytest.raises(UsageError, match=text):
        diagnose([target])


def test_an_export_without_a_number_is_of_the_first_layout(target):
    (run,) = json.loads((target / MANIFEST).read_text())["runs"]
    del run["facts_layout"]
    (target / MANIFEST).write_text(json.dumps({"format": FORMAT, "schema": 1, **run}))
    with pytest.raises(UsageError, match="holds facts of layout 1, of kafkatx"):
        diagnose([target])


def test_facts_whose_head_is_of_another_layout_are_refused(target):
    head = encode(FactsHead("0.0.2", 99, 1, False, []))
    rewritten(target, lambda row: {**row, "payload": head} if row["capture"] < 0 else row)
    with pytest.raises(UsageError, match=r"holds facts of layout 99, of kafkatx 0\.0\.2"):
        diagnose([target])


def test_declarations_that_change_get_another_number():
    assert (LAYOUT, declarations()) == (7, "73316386b18e0288"), "facts mean something else: raise LAYOUT"


def test_an_export_without_facts_is_refused(target):
    restated(target, tables={"files": {"rows": 0, "files": []}})
    with pytest.raises(UsageError, match="was exported without the table facts, which a diagnosis needs"):
        diagnose([target])


def test_an_export_given_twice_is_one(target, made):
    assert said(diagnose, [target, made]) == said(diagnose, [target, target]) == said(diagnose, [made])


@pytest.mark.parametrize(
    "path", ["../secret.parquet", "/etc/passwd", "facts/../x.parquet", "batches/part-00000.parquet"]
)
def test_files_outside_of_the_export_are_not_read(path, target):
    restated(target, tables={"facts": {"files": [{"path": path}]}})
    with pytest.raises(UsageError, match="names no files of facts"):
        diagnose([target])


@pytest.mark.parametrize("text", ["[]", "{", "[" * 100_000, '{"format": "other"}'])
def test_a_manifest_that_is_none_makes_no_export(text, tmp_path):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(KafkatxError, match=r"could (not )?be read as evidence|there is no file"):
        diagnose([tmp_path])


class Runs:
    """Says that it ran, where it is unpickled."""

    def __reduce__(self) -> Any:
        return RAN.append, ("ran",)


def at(row: dict[str, Any], which: FactKind, /, **values: Any) -> dict[str, Any]:
    return {**row, **values} if row["rank"] == which and row["capture"] >= 0 else row


PICKLE = pickle.dumps(Runs())
EVENTS = np.zeros(1, EVENT)
LOG = encode(FileFacts(LogFacts([], EVENTS), Coverage(None, None, None, "a", "text-log", 1)))
PART = encode(SplitSummary(0, 400, 0, b"", 400, ExpectedNext(-1, NO_END, -1)))
CHANGES: dict[str, Any] = {
    **{f"a pickle as {rank.name}": lambda row, rank=rank: at(row, rank, payload=PICKLE) for rank in (
        FactKind.PLAN, FactKind.SNAPSHOT, FactKind.TOLD, FactKind.BLOCK, FactKind.LOG, FactKind.PLACED
    )},
    **{f"{name} for {rank.name}": lambda row, rank=rank, name=name: at(row, rank, rank=FactKind[name], payload=PICKLE)
       for rank in (FactKind.PLAN, FactKind.LOG, FactKind.BLOCK) for name in ("STORY", "INTERVALS", "JOINED")},
    "another capture": lambda row: at(row, FactKind.BLOCK, capture=7),
    "a rank that there is not": lambda row: at(row, FactKind.BLOCK, rank=99),
    "nothing for a number": lambda row: at(row, FactKind.BLOCK, first_offset=None),
    "no plan": lambda row: None if row["rank"] == FactKind.PLAN and row["number"] >= 0 else row,
    "no capture": lambda row: None if (row["capture"], row["number"], row["rank"]) == (0, -1, FactKind.PLAN) else row,
    "no head": lambda row: None if row["capture"] < 0 else row,
    "no word of a file": lambda row: None if row["rank"] == FactKind.TOLD else row,
    "no places": lambda row: at(row, FactKind.PLACED, payload=b""),
    "a block of a log as one of states": lambda row: at(row, FactKind.BLOCK, payload=encode([1])),
    "an event of a string that there is not": lambda row: at(row, FactKind.LOG, payload=LOG),
    "a piece that is gone": lambda row: at(row, FactKind.BLOCK, piece=1, payload=row["payload"][:9]),
    "a file that was not read whole": lambda row: at(row, FactKind.TOLD, payload=PART),
}  # fmt: skip


REFUSED = r"not a fact|no fact|holds null|facts are missing|out of order"


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_facts_that_somebody_changed_are_refused_and_nothing_of_them_runs(change, target):
    rewritten(target, change)
    try:
        with pytest.raises(UsageError, match=REFUSED):
            diagnose([target])
    finally:
        assert not RAN


def test_a_fact_that_comes_twice_is_refused(target):
    twice = []
    rewritten(target, lambda row: twice.append(row) or row)
    rewritten(target, lambda row: row, *twice)
    with pytest.raises(UsageError, match=r"facts out of order|not a fact|missing"):
        diagnose([target])


def test_a_file_that_is_no_parquet_or_no_facts_is_refused(target):
    (path,) = (target / "facts").iterdir()
    path.write_bytes(b"PAR1")
    attest(target)
    with pytest.raises(UsageError, match=r"facts/part-[0-9a-f]+-00000\.parquet can't be read"):
        diagnose([target])
    path.unlink()
    with pytest.raises(UsageError, match=r"facts/part-[0-9a-f]+-00000\.parquet can't be read"):
        diagnose([target])


def test_a_file_of_which_a_bit_changed_is_refused_before_anything_is_read(target):
    (path,) = (target / "facts").iterdir()
    whole = path.read_bytes()
    for at in (4, len(whole) // 2, len(whole) - 20):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(
            UsageError, match=r"facts/part-[0-9a-f]+-00000\.parquet is not as it was exported.* export it again"
        ):
            diagnose([target])
    path.write_bytes(whole)
    assert diagnose([target]).findings


def test_a_plan_that_names_a_file_twice_and_otherwise_is_refused(target):
    """Among the capture's files and among those of its partition; the finding cites what lies in it."""

    def renamed(row: dict[str, Any]) -> dict[str, Any]:
        if (row["capture"], row["number"], row["rank"]) != (0, -1, FactKind.PLAN):
            return row
        size = int.from_bytes(row["payload"][:8], "little")
        plain = bytes(pa.Codec("zstd").decompress(row["payload"][8:], size)).replace(
            STATE_LOG, STATE_LOG[:-5] + b"1.log", 1
        )
        return {**row, "payload": row["payload"][:8] + bytes(pa.Codec("zstd").compress(plain, asbytes=True))}

    rewritten(target, renamed)
    with pytest.raises(UsageError, match=r"no fact of .*state-0"):
        diagnose([target])


def test_facts_are_cut_to_pieces_that_fit_and_stages_make_none_of_them():
    for found in fact_table(open_evidence([CASE])):
        assert all(len(piece) <= LARGEST_PIECE for piece in found.column("payload").to_pylist())
        assert not {FactKind.STORY, FactKind.INTERVALS, FactKind.JOINED} & set(found.column("rank").to_pylist())
