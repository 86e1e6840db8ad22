"""Blocks of tables on their way to who writes them: dealt to tasks of some megabytes, units whole, in order.

A table of many bytes is dealt to several tasks by its units; small ones share a task, so that an export of little is
one task and one of much has no file of a few rows for each task.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kafkatx.spark.dealing import keys_of_partitions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

BYTES_A_TASK = 32 << 20
"""Bytes of compressed rows that one task writes, about."""
BYTES_A_JOB = 1 << 30
"""Bytes of tables that are written, and noted as written, together; a larger table is a job by itself."""

Shares = dict[str, tuple[int, int]]
"""For each table the number of the first task that writes it, and how many do."""


def jobs(sizes: dict[str, int]) -> Iterator[list[str]]:
    """Put tables together that are written by one job, in their order."""
    job: list[str] = []
    for name, size in sizes.items():
        if job and sum(sizes[one] for one in job) + size > BYTES_A_JOB:
            yield job
            job = []
        job.append(name)
    if job:
        yield job


def width_of(size: int, at_once: int) -> int:
    """How many tasks write so many bytes; of few bytes as many as run at once, if they have some megabytes each."""
    return max(-(-size // BYTES_A_TASK), min(at_once, -(-size // (BYTES_A_TASK // 8))), 1)


def shares(sizes: dict[str, int], at_once: int) -> tuple[Shares, int]:
    """Deal tables to tasks by their bytes; returns also how many tasks there are."""
    found: Shares = {}
    tasks, filled = 0, BYTES_A_TASK
    for name, size in sizes.items():
        width = width_of(size, at_once)
        if width > 1:
            found[name], tasks = (tasks, width), tasks + width
    for name, size in sizes.items():
        if name in found:
            continue
        if filled + size > BYTES_A_TASK // 8:
            tasks, filled = tasks + 1, 0
        found[name], filled = (tasks - 1, 1), filled + size
    return found, tasks


def dealt(blocks: DataFrame, to: Shares, tasks: int) -> DataFrame:
    """Return blocks (`kind`, `unit`, ...) in as many partitions as there are tasks, in each by table and unit."""
    gathered = blocks.repartition(tasks, _key(to, tasks)) if tasks > 1 else blocks.coalesce(1)
    return gathered.sortWithinPartitions("kind", "unit")


def _key(to: Shares, tasks: int) -> Column:
    """What the shuffle of Spark sends a block to its task by."""
    from pyspark.sql import functions as F

    keys = [int(key) for key in keys_of_partitions(tasks)]
    found = F.lit(keys[0])
    for name, (first, width) in to.items():
        own = [F.lit(key) for key in keys[first : first + width]]
        share = F.pmod(F.xxhash64("unit"), F.lit(width)) + 1
        found = F.when(
            F.col("kind") == name, own[0] if width == 1 else F.element_at(F.array(*own), share.cast("int"))
        ).otherwise(found)
    return found
