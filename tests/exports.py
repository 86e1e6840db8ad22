"""Exports for tests: the table of facts alone, of any evidence, and one of many recorded cases, made once."""

import atexit
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import kafkatx
from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.outputs.parquet.export import export
from kafkatx.sources.states import with_sums
from kafkatx.stages.export_folders import manifest_of
from kafkatx.stages.export_manifest import MANIFEST, Recipe
from kafkatx.stages.fact_batches import FACTS as SCHEMA
from kafkatx.stages.judging import NothingToDiagnoseError
from kafkatx.stages.parquet_parts import Sizes
from kafkatx.stages.run_names import captures_kept, names_kept
from kafkatx.tables.facts import FACTS
from tests.cases.commands import run

SMALL = Sizes(group_rows=100, file_bytes=100_000)
"""So that facts lie in several row groups of several files."""


def said(run: Callable[..., Diagnosis], *arguments: Any, **options: Any) -> dict[str, Any]:
    """Return the document of a diagnosis, also where nothing was evidence."""
    try:
        return document(run(*arguments, **options), "")
    except NothingToDiagnoseError as error:
        return document(error.diagnosis, "")


def exported(paths: Iterable[Path], target: Path, sizes: Sizes = SMALL, **options: Any) -> Path:
    """Write the facts of evidence as `kafkatx export` does; options as of `kafkatx.open`."""
    given = [*paths]
    evidence = kafkatx.open(given, **options)
    if kept := names_kept(evidence.captures, manifest_of(target)):
        evidence = kafkatx.open(given, captures=kept, **options)
    inputs = [{"path": one.path, "size": one.size, "sha256": one.sha256} for one in with_sums(evidence.inputs())]
    recipe = Recipe(kafkatx.__version__, pa.__version__, (FACTS.name,), {}, inputs, captures_kept(evidence.captures))
    export(target, [FACTS], lambda name: evidence.facts(), recipe, sizes=sizes)
    return target


@cache
def exported_together(cases: tuple[Path, ...]) -> tuple[dict[str, Any], Path]:
    """Return what the raw diagnosis of recorded cases says, and an export of them; what it is of is gone."""
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copies = [shutil.copytree(case, folder / "cases" / case.name) for case in cases]
    raw = said(diagnose, copies)
    target = exported(copies, folder / "export")
    shutil.rmtree(folder / "cases")
    return raw, target


def rewritten(target: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None], *more: dict[str, Any]) -> None:
    """Change the rows of an export's facts, each as a dictionary (None: leave it out), and add some."""
    (path,) = (target / "facts").glob("*.parquet")
    rows = [*map(change, pq.read_table(path).to_pylist()), *more]
    pq.write_table(pa.Table.from_pylist([row for row in rows if row is not None], SCHEMA), path)
    attest(target)


def attest(target: Path) -> None:
    """Name the digests that files of facts have in the manifest, as who changes an export on purpose would."""
    manifest = json.loads((target / MANIFEST).read_text())
    for file in (file for one in manifest["runs"] for file in one["tables"][FACTS.name]["files"]):
        data = (target / file["path"]).read_bytes()
        file |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (target / MANIFEST).write_text(json.dumps(manifest))


def restated(target: Path, **fields: Any) -> None:
    """Change fields of the runs in an export's manifest."""
    manifest = json.loads((target / MANIFEST).read_text())
    runs = [{**run, **fields} for run in manifest["runs"]]
    (target / MANIFEST).write_text(json.dumps({**manifest, "runs": runs}))


def run_all_tables(paths: Path | Iterable[Path], target: Path) -> Path:
    """Write all tables of evidence as the command does."""
    result = run("export", *map(str, [paths] if isinstance(paths, Path) else paths), "--out", str(target))
    assert result.code == 0, result.err
    return target
