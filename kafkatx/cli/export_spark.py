"""`kafkatx export --engine spark`: the same tables, written by Spark to a folder that all workers reach, or a store."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TextIO

from kafkatx.cli.destination import console_for, output
from kafkatx.cli.options import Colour
from kafkatx.terms.errors import EngineError, NothingReadableError, UsageError

if TYPE_CHECKING:
    from kafkatx.spark.exporting import ExportedBySpark


class TableFormat(StrEnum):
    """What tables are written as."""

    parquet = "parquet"
    delta = "delta"
    iceberg = "iceberg"


def export_on_spark(
    paths: list[str],
    out: str,
    master: str | None,
    *,
    tables: tuple[str, ...],
    table_format: TableFormat,
    verify: bool,
    captures: dict[str, str] | None,
    as_json: bool,
    color: Colour,
) -> None:
    """Run an export on Spark and tell of it; with JSON the document is whole also where nothing came of it."""
    from kafkatx import spark
    from kafkatx.spark.failures import without_logging
    from kafkatx.spark.session import session

    with output(None, paths) as stream:
        try:
            with session(master) as started, without_logging():
                found = spark.export(
                    started,
                    paths,
                    out,
                    format=table_format.value,
                    tables=tables,
                    verify_all=verify,
                    captures=captures,
                )
        except (EngineError, NothingReadableError) as error:
            if as_json:
                _write_failed(stream, error)
            raise
        _write(stream, found, as_json, color)


def refuse_what_is_not_for_here(table_format: TableFormat) -> None:
    """Raise UsageError for what only Spark writes."""
    if table_format is not TableFormat.parquet:
        raise UsageError(f"--table-format {table_format.value} goes with --engine spark")


def _write(stream: TextIO, found: ExportedBySpark, as_json: bool, color: Colour) -> None:
    from kafkatx.outputs.parquet import summary

    if as_json:
        from kafkatx import __version__

        stream.write(summary.to_json(found, found.path, [], __version__))
    else:
        summary.print_summary(console_for(stream, color), found, found.path)


def _write_failed(stream: TextIO, error: EngineError | NothingReadableError) -> None:
    from kafkatx import __version__
    from kafkatx.outputs.parquet import summary

    if isinstance(error, EngineError):
        stream.write(summary.failed_to_json(error, __version__))
    else:
        stream.write(summary.nothing_to_json(__version__))
