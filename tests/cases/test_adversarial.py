"""Recordings of situations that an adversary would choose, with what was expected of them before they were recorded.

fixtures/adversarial/*.tar.xz hold them, `scripts.tgz` how they were made. What still falls short is listed, sentence by
sentence, in golden/adversarial.txt: it may only shrink.
"""

import shutil
import tarfile
from pathlib import Path

import pytest

from kafkatx import __version__
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from tests.cases.judging import SUFFICES, evidence_of, shortfalls
from tests.evidence import ROOT

FOLDER = ROOT / "fixtures" / "adversarial"
PACKED = sorted(FOLDER.glob("*.tar.xz"))
OPEN = Path(__file__).parent / "golden" / "adversarial.txt"
OFTEN = ("disk", "all")
"""Kinds of evidence that are tried in each run, of a recording one of them; the others with `-m repeats`."""
TRIED = [
    pytest.param(packed, kind, marks=[] if kind == OFTEN[number % 2] else [pytest.mark.repeats])
    for number, packed in enumerate(PACKED)
    for kind in SUFFICES
]


def known(case: str, kind: str) -> set[str]:
    """What is open of a case."""
    lines = OPEN.read_text().splitlines() if OPEN.exists() else []
    return {line.removeprefix(f"{case} {kind}: ") for line in lines if line.startswith(f"{case} {kind}: ")}


def now(folder: Path, kind: str) -> set[str]:
    """What falls short of one kind of evidence."""
    paths = [path for path in evidence_of(folder, kind) if path.exists()]
    try:
        findings = document(diagnose(paths), __version__)["findings"] if paths else []
    except NothingReadableError:
        findings = []
    return set(shortfalls(folder, findings, SUFFICES[kind]))


@pytest.mark.parametrize(("packed", "kind"), TRIED, ids=lambda given: getattr(given, "name", given))
def test_a_recording_is_judged_as_expected_before_it_was_made(packed: Path, kind: str, tmp_path: Path) -> None:
    shutil.unpack_archive(packed, tmp_path)
    (case,) = tmp_path.iterdir()
    short, left = now(case, kind), known(case.name, kind)
    assert sorted(short - left) == []
    assert sorted(left - short) == [], "no longer open: take it out of golden/adversarial.txt"


def test_there_are_thirty_of_them_and_how_they_were_made() -> None:
    assert len(PACKED) >= 30
    with tarfile.open(FOLDER / "scripts.tgz") as archive:
        assert len(archive.getnames()) >= 30
