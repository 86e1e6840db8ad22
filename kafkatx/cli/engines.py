"""Where the work of a command is done: options, and what they refuse."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from kafkatx.terms.errors import UsageError


class Engine(StrEnum):
    """Where the work is done."""

    local = "local"
    spark = "spark"


EngineOption = Annotated[
    Engine, typer.Option("--engine", help="Where the work is done: in this process, or on Spark, for a fleet.")
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Where Spark runs: local[N], spark://HOST:PORT, yarn, k8s://HOST:PORT, sc://HOST:PORT; default: what "
        "spark-submit or SPARK_REMOTE say, else all cores of this machine.",
    ),
]


def is_on_spark(engine: Engine, master: str | None, paths: list[str]) -> bool:
    """Whether the work is Spark's; raises UsageError where that can't be, or --master goes with nothing."""
    if engine is Engine.local:
        if master is not None:
            raise UsageError(f"--master {master} goes with --engine spark")
        return False
    from kafkatx.sources.said import of_place

    if "-" in map(of_place, paths):
        raise UsageError("--engine spark can't read standard input: save it to a file and give its path")
    return True
