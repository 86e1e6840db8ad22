"""`kafkatx diagnose PATH...`: what went wrong, whose fault, the evidence, what to do."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from kafkatx.cli import completion
from kafkatx.cli.destination import console_for, output
from kafkatx.cli.engines import Engine, EngineOption, MasterOption, is_on_spark
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import (
    OutputOptions,
    Paths,
    ReadingOptions,
    ReleaseOption,
    ScopeOptions,
    VerboseOption,
    as_option,
    release_option,
)
from kafkatx.cli.progress import progress
from kafkatx.terms.errors import EngineError, UsageError

if TYPE_CHECKING:
    from kafkatx.findings.diagnosis import Diagnosis


class MinSeverity(StrEnum):
    """Severities as options."""

    info = "info"
    warning = "warning"
    error = "error"


class FailOn(StrEnum):
    """When a finding makes the exit code 1."""

    error = "error"
    warning = "warning"
    info = "info"
    never = "never"


@grouped
def diagnose(
    paths: Paths,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            "--rule", metavar="RULE", autocompletion=completion.rules, help="Only this rule; may be repeated."
        ),
    ] = None,
    min_severity: Annotated[
        MinSeverity, typer.Option("--min-severity", help="Leave out what is less severe.")
    ] = MinSeverity.info,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit with 1 if a finding is at least this severe.")
    ] = FailOn.never,
    *,
    scope: ScopeOptions,
    reading: ReadingOptions,
    kafka_version: ReleaseOption = None,
    engine: EngineOption = Engine.local,
    master: MasterOption = None,
    thorough: Annotated[
        bool,
        typer.Option(
            "--thorough",
            help="On Spark, read every segment; else of large partitions only those that rows of the coordinator, "
            "indexes, snapshots or logs make suspect. The local engine always reads all.",
        ),
    ] = False,
    stretch_bytes: Annotated[
        int | None,
        typer.Option(
            "--stretch-bytes",
            metavar="BYTES",
            min=1,
            help="How much of a large file a task of Spark reads; default: 67108864 (64 MiB).",
        ),
    ] = None,
    result: OutputOptions,
    verbose: VerboseOption = False,
) -> None:
    """Say what went wrong with transactions, prove it, and say what to do.

    Takes whatever there is, alone or together: data directories of brokers or parts of them, output of kafka-dump-log,
    of the console consumer and of kafka-transactions, logs of brokers and clients, settings, pages that quote any of
    these, archives of all this (tar, zip, gz, zst, bz2, xz), and - for standard input, or any of it in an object store
    (s3://bucket/folder, gs://, abfs://, hdfs://). Files are told by their content. Folders that kafkatx export wrote
    are taken as well, in place of what they were made of.

    Rebuilds what every transactional.id did, and judges it. The more there is, the surer the findings: the disk tells
    what happened, logs tell who did it and why.

    Examples:
      kafkatx diagnose /var/lib/kafka/data
      kafkatx diagnose /var/lib/kafka/data server.log app.log --id payments-eu-1
      kafkatx diagnose app.log --since 2026-11-21T10:00:00Z --json --out found.json
      kafkatx diagnose broker-1.tgz --rule fenced_by_new_instance --fail-on error

    --engine spark is for a fleet: hundreds of directories on storage that all workers reach. It says the same, from as
    many cores as --master names; of large partitions it reads what something makes suspect, and says what it did not
    read (--thorough reads all). Up to some GB this process alone is faster: Spark needs ten seconds to start. It is an
    extra: pip install 'kafkatx[spark]', and Java 17 or newer.
    """
    from kafkatx.findings.diagnosis import Selection
    from kafkatx.stages.judging import NothingToDiagnoseError

    selection = Selection(_rules(rule), _severity(min_severity.value), **scope.limits())
    paths = as_option(paths, reading.as_kind)
    on_spark = {"stretch_bytes": stretch_bytes, "thorough": thorough}
    run, nothing = _engine(engine, master, paths, result.quiet, on_spark), None
    options = {"selection": selection, "release": release_option(kafka_version), **reading.values()}
    with output(result.out, paths) as stream:
        try:
            found = run(**options)
        except NothingToDiagnoseError as error:
            if not result.as_json:
                raise
            found, nothing = error.diagnosis, error
        except EngineError as error:
            if result.as_json:
                _write_failed(error, stream)
            raise
        _write(found, stream, result, verbose=verbose)
    if nothing is not None:
        raise nothing
    if fail_on is not FailOn.never and _is_at_least(found, fail_on.value):
        raise typer.Exit(1)


def _engine(
    engine: Engine, master: str | None, paths: list[str], quiet: bool, on_spark: dict[str, Any]
) -> Callable[..., Diagnosis]:
    """Return what diagnoses `paths` on an engine, given the options that all engines take; Spark also `on_spark`."""
    if is_on_spark(engine, master, paths):
        return partial(_on_spark, master, paths, **on_spark)
    if on_spark["stretch_bytes"] is not None:
        raise UsageError(f"--stretch-bytes {on_spark['stretch_bytes']} goes with --engine spark")
    return partial(_here, quiet, paths)


def _here(quiet: bool, paths: list[str], **options: Any) -> Diagnosis:
    from kafkatx.local.diagnosis import diagnose

    with progress(quiet) as tick:
        return diagnose(paths, progress=tick, **options)


def _on_spark(master: str | None, paths: list[str], **options: Any) -> Diagnosis:
    from kafkatx import spark
    from kafkatx.spark.failures import without_logging
    from kafkatx.spark.session import session

    with session(master) as started, without_logging():
        return spark.diagnose(started, paths, **options)


def _write(found: Diagnosis, stream: TextIO, result: OutputOptions, *, verbose: bool) -> None:
    if result.as_json:
        from kafkatx import __version__
        from kafkatx.outputs.diagnosis_json import to_json

        stream.write(to_json(found, __version__))
    else:
        from kafkatx.outputs.diagnosis_text import print_diagnosis

        print_diagnosis(console_for(stream, result.color), found, verbose=verbose)


def _write_failed(error: EngineError, stream: TextIO) -> None:
    from kafkatx import __version__
    from kafkatx.outputs.diagnosis_json import failed_to_json

    stream.write(failed_to_json(error, __version__))


def _severity(name: str) -> int:
    from kafkatx.terms.verdicts import Severity

    return int(Severity[name])


def _rules(names: list[str] | None) -> frozenset[str] | None:
    from kafkatx.rules.registry import RULES

    for name in names or []:
        if name not in RULES:
            from kafkatx.cli.usage_errors import no_such

            raise no_such("--rule", name, "rule", sorted(RULES))
    return frozenset(names) if names else None


def _is_at_least(result: Diagnosis, name: str) -> bool:
    return any(found.finding.severity >= _severity(name) for found in result.findings)
