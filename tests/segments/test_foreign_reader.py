"""What is read of random legal segments, by every path, is what kafka-python reads of the same bytes."""

import base64
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import kafkatx
from kafkatx.local.verification import verify
from kafkatx.outputs.parquet.export import export
from kafkatx.tables.catalogue import TABLES
from tests.outputs.parquet.small import recipe
from tests.outputs.test_dump import objects
from tests.segments.foreign import CODECS, Maker, Read, read_by_kafka_python
from tests.spark.tables import in_tasks

BATCHES = 40
CODEC_NAMES = ("none", "gzip", "snappy", "lz4", "zstd")


def segment_of(folder: Path, seed: int, batches: int = BATCHES) -> bytes:
    """Write a random segment, and return its bytes."""
    dice = random.Random(seed)
    start = dice.choice([0, 5, 2**31 - 3, 2**40])
    data = Maker(dice, start).segment(batches)
    (folder / "orders-0").mkdir(parents=True)
    (folder / "orders-0" / f"{start:020d}.log").write_bytes(data)
    return data


def of_rows(table: Any) -> Iterator[Read]:
    """Records of the table `records`, without those of control batches."""
    for row in table.to_pylist():
        if not row["is_control"]:
            at = row["timestamp"]
            headers = tuple((one["key"], one["value"]) for one in row["headers"])
            yield (
                row["record_offset"],
                None if at is None else round(at.timestamp() * 1000),
                row["key"],
                row["value"],
                headers,
            )


def from_table(folder: Path) -> list[Read]:
    return [read for batch in kafkatx.open([folder]).table("records") for read in of_rows(batch)]


def from_export(folder: Path) -> list[Read]:
    evidence, target = kafkatx.open([folder]), folder.parent / "export"
    export(target, [TABLES["records"]], evidence.table, recipe(TABLES["records"]))
    return list(of_rows(pq.read_table(target / "records")))


def from_tasks(folder: Path) -> list[Read]:
    """As Spark's workers do."""
    return list(of_rows(in_tasks([folder], "records")))


def from_dump(folder: Path) -> list[Read]:
    def shown(row: dict[str, Any], name: str) -> bytes | None:
        if f"{name}_base64" in row:
            return base64.b64decode(row[f"{name}_base64"])
        return None if row[name] is None else row[name].encode()

    (path,) = folder.rglob("*.log")
    records = [row for row in objects([path]) if row["object"] == "record" and "control_type" not in row]
    return [
        (
            row["offset"], row["timestamp_ms"], shown(row, "key"), shown(row, "value"),
            tuple((one["key"], shown(one, "value")) for one in row["headers"]),
        )
        for row in records
    ]  # fmt: skip


PATHS: list[Callable[[Path], list[Read]]] = [from_table, from_export, from_tasks, from_dump]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("path", PATHS)
def test_every_path_reads_what_kafka_python_reads(
    path: Callable[[Path], list[Read]], seed: int, engine: str, tmp_path: Path
) -> None:
    data = segment_of(tmp_path / "in", seed)
    assert path(tmp_path / "in") == list(read_by_kafka_python(data))


@pytest.mark.parametrize("seed", range(100, 160))
def test_random_segments_are_whole_and_read_alike(seed: int, tmp_path: Path) -> None:
    data = segment_of(tmp_path, seed, 12)
    found = list(read_by_kafka_python(data))
    assert from_table(tmp_path) == found
    verified = verify([tmp_path], records=True)
    assert not verified.damage
    (covered,) = verified.coverage
    assert covered.records is not None
    assert covered.records - len(found) == markers_in(tmp_path)


def markers_in(folder: Path) -> int:
    """Control batches, whose records kafka-python's are not held against."""
    return sum(batch.num_rows for batch in kafkatx.open([folder]).table("markers"))


def test_a_segment_has_every_format_in_every_codec(tmp_path: Path) -> None:
    for seed in range(8):
        segment_of(tmp_path / str(seed), seed)
    rows = [
        row
        for batch in kafkatx.open([tmp_path]).table("batches")
        for row in batch.select(["magic", "codec"]).to_pylist()
    ]
    kinds = {(row["magic"], row["codec"]) for row in rows}
    assert kinds == {(magic, CODEC_NAMES[codec]) for magic, codecs in CODECS.items() for codec in codecs}
