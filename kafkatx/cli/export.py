"""`kafkatx export PATH... --out DIR`: all tables as Parquet."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from kafkatx.cli import completion
from kafkatx.cli.destination import console_for, output, outside
from kafkatx.cli.engines import Engine, EngineOption, MasterOption, is_on_spark
from kafkatx.cli.export_spark import TableFormat, export_on_spark, refuse_what_is_not_for_here
from kafkatx.cli.options import (
    AsOption,
    CaptureOption,
    Colour,
    ColourOption,
    Format,
    FormatOption,
    JsonOption,
    Paths,
    QuietOption,
    VerifyOption,
    as_option,
    capture_option,
)
from kafkatx.cli.progress import export_progress
from kafkatx.terms.errors import NothingReadableError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from kafkatx.local.evidence import Evidence
    from kafkatx.outputs.parquet.export import Exported
    from kafkatx.stages.export_manifest import Recipe


def export(
    paths: Paths,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Folder to write, or an export to add a run to.", show_default=False
        ),
    ],
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table", metavar="TABLE", autocompletion=completion.tables, help="Only this table; may be repeated."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace DIR, with all its runs, if it is an export and nothing else.")
    ] = False,
    engine: EngineOption = Engine.local,
    master: MasterOption = None,
    table_format: Annotated[
        TableFormat,
        typer.Option("--table-format", help="With --engine spark: what tables are; Delta and Iceberg need their jars."),
    ] = TableFormat.parquet,
    verify: VerifyOption = False,
    capture: CaptureOption = None,
    as_kind: AsOption = None,
    output_format: FormatOption = Format.text,
    json_output: JsonOption = False,
    color: ColourOption = Colour.auto,
    quiet: QuietOption = False,
) -> None:
    """Write all tables as Parquet, which Spark, DuckDB, Polars and pandas read.

    DIR gets a folder for each table, with one file or more; docs/tables.md explains the columns and how the rows are
    sorted. DIR is there whole or not at all. An export that was interrupted goes on when the same command is given
    again.

    An export grows: given a DIR that is one already, it adds a run, whose rows have their own run_id. Files of earlier
    runs stay as they are. What is there already, by the sums of its files, is not written again. Where the variable
    SOURCE_DATE_EPOCH fixes the time of a run, the same evidence gives the same files, byte for byte.

    The table records holds keys and values: to leave it out, name the others.

    For example, which transactions were aborted, by whom, and what they lost:

      kafkatx export /var/lib/kafka/data --out tables
      duckdb -c "SELECT transactional_id, ended_by, count(*), sum(records)
                 FROM 'tables/transactions/*.parquet'
                 WHERE outcome = 'aborted' GROUP BY ALL"

    The same folder in Python, and in Spark:

      pandas.read_parquet("tables/transactions", dtype_backend="pyarrow")
      spark.read.parquet("tables/transactions")

    --engine spark is for a fleet: each file is read once, by a task, and Spark's own writer writes the tables, divided
    by cluster and day, to a folder that all workers reach or to an object store (docs/spark.md).
    """
    from kafkatx.local.evidence import open as open_evidence
    from kafkatx.sources.places import admitted
    from kafkatx.stages.export_folders import manifest_of
    from kafkatx.stages.run_names import names_kept

    as_json, names = json_output or output_format is Format.json, _tables(table)
    paths = as_option(paths, as_kind)
    if is_on_spark(engine, master, paths):
        if overwrite:
            raise UsageError("--overwrite is not for --engine spark: remove what lies there, or give another place")
        export_on_spark(
            paths,
            out,
            master,
            tables=names,
            table_format=table_format,
            verify=verify,
            captures=capture_option(capture),
            as_json=as_json,
            color=color,
        )
        return
    refuse_what_is_not_for_here(table_format)
    target, given, forced = outside(out, paths).resolve(), sorted(set(admitted(paths))), capture_option(capture)
    evidence = open_evidence(given, captures=forced, verify_all=verify)
    kept = names_kept(evidence.captures, None if overwrite else manifest_of(target))
    if kept and not forced:
        evidence = open_evidence(given, captures=kept, verify_all=verify)
    with output(None, paths) as stream:
        if not evidence.captures:
            _write_nothing(stream, as_json)
        recipe = _recipe(evidence, names, {"paths": given, "verify": verify, "captures": forced})
        found = _export(evidence, target, recipe, overwrite, quiet)
        changed = _changed(evidence, recipe)
        _write(stream, found, out, changed, as_json, color)
    if changed and not quiet:
        sys.stderr.write(
            f"kafkatx: warning: {_of_files(changed)} while being read; tables may not agree with each other\n"
        )


def _tables(names: list[str] | None) -> tuple[str, ...]:
    """The tables that are wanted, in the order of the catalogue; raises UsageError for a name that is none."""
    from kafkatx.tables.catalogue import EXPORTED

    for name in names or ():
        if name not in EXPORTED:
            from kafkatx.cli.usage_errors import no_such

            raise no_such("--table", name, "table", EXPORTED)
    return tuple(name for name in EXPORTED if not names or name in names)


def _recipe(evidence: Evidence, names: tuple[str, ...], options: dict[str, Any]) -> Recipe:
    """All that the export follows from."""
    from dataclasses import asdict

    import pyarrow as pa

    from kafkatx import __version__
    from kafkatx.sources.states import with_sums
    from kafkatx.stages.export_manifest import Recipe
    from kafkatx.stages.run_names import captures_kept

    states = with_sums(evidence.inputs())
    inputs = [{name: value for name, value in asdict(state).items() if value is not None} for state in states]
    return Recipe(__version__, pa.__version__, names, options, inputs, captures_kept(evidence.captures))


def _export(evidence: Evidence, target: Path, recipe: Recipe, overwrite: bool, quiet: bool) -> Exported:
    from kafkatx.outputs.parquet.export import export as run
    from kafkatx.tables.catalogue import EXPORTED
    from kafkatx.tables.facts import FACTS

    size = sum(state.get("size", 0) for state in recipe.inputs)
    try:
        with export_progress(recipe.tables, size, quiet) as bar:
            return run(
                target,
                [EXPORTED[name] for name in recipe.tables],
                lambda name: evidence.facts(bar.file) if name == FACTS.name else evidence.table(name, bar.file),
                recipe,
                told_in_order=lambda name: evidence.table_in_order(name, bar.file) if name != FACTS.name else None,
                overwrite=overwrite,
                watch=bar,
            )
    except KeyboardInterrupt:
        if not quiet:
            sys.stderr.write("kafkatx: interrupted; the same command goes on with the next table\n")
        raise


def _changed(evidence: Evidence, recipe: Recipe) -> list[str]:
    """Paths of the files that are not what they were when the export began, as under a broker that runs."""
    before = {state["path"]: (state.get("size"), state.get("mtime_ns")) for state in recipe.inputs}
    return [state.path for state in evidence.inputs() if before.get(state.path) != (state.size, state.mtime_ns)]


def _of_files(paths: list[str]) -> str:
    from kafkatx.terms.printable import printable

    others = f" and {len(paths) - 1:,} other files" if len(paths) > 1 else ""
    return f"{printable(paths[0])}{others} changed"


def _write_nothing(stream: TextIO, as_json: bool) -> None:
    """Say that there is nothing to export; raises NothingReadableError."""
    if as_json:
        from kafkatx import __version__
        from kafkatx.outputs.parquet.summary import nothing_to_json

        stream.write(nothing_to_json(__version__))
    raise NothingReadableError(
        "nothing that was given is evidence of Kafka, so nothing was written; kafkatx diagnose says why"
    )


def _write(stream: TextIO, found: Exported, out: str, changed: list[str], as_json: bool, colour: Colour) -> None:
    from kafkatx.outputs.parquet import summary

    if as_json:
        from kafkatx import __version__

        stream.write(summary.to_json(found, out, changed, __version__))
    else:
        summary.print_summary(console_for(stream, colour), found, out)
