"""A stream that is killed again and again while a real broker writes, rolls, compacts, deletes, crashes and truncates.

What equal means: of each batch (partition, leader epoch, offset, checksum) there is one row; for each that is there at
the end there is that row, with all its columns, unless the cleaner wrote the batch anew after it had been read: then
offset and epoch, by which it is still the same batch, are equal. Rows of batches that are gone by then stay.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest

import kafkatx
from kafkatx.spark import growing
from tests.spark.broker import Broker, java, write

pytestmark = [pytest.mark.services, pytest.mark.skipif(java() is None, reason="needs Java and Maven")]
KILLS, CRASHES, SECONDS = int(os.environ.get("KILLS", "10")), 3, 60.0
MAYBE = ("crc_valid", "path", "detail")
"""What depends on where a walk began: which checksums were looked at. Logs are renamed, and while one is short its
reader asks every line what it says."""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    made = Broker(tmp_path / "kafka")
    made.start()
    made.make_topics()
    yield made
    made.kill()


class Writing(threading.Thread):
    """Writes until it is told to stop, and through crashes of the broker."""

    def __init__(self, broker: Broker, chance: random.Random) -> None:
        super().__init__(daemon=True)
        self.broker, self.chance, self.ended, self.is_over, self.is_up = broker, chance, 0, False, True

    def run(self) -> None:
        number = 0
        while not self.is_over:
            number += 1
            try:
                self.ended += write(self.broker, self.chance, 5, f"app-{number % 4}")
            except Exception:
                time.sleep(1)


def follow(root: Path, place: Path, *more: str) -> subprocess.Popen[bytes]:
    with (place / "out.txt").open("ab") as out:
        command = [sys.executable, "-m", "tests.spark.follow", str(root), str(place), *more]
        return subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End the stream and its JVM at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_each_batch_is_read_once(broker, tmp_path, java_home):
    chance, place = random.Random(os.environ.get("SEED", "1")), tmp_path / "streamed"
    place.mkdir()
    writing = Writing(broker, chance)
    writing.start()
    for number in range(KILLS):
        stream = follow(broker.folder, place)
        try:
            time.sleep(SECONDS * chance.uniform(0.6, 1.2))
            if number % max(KILLS // CRASHES, 1) == KILLS // CRASHES // 2:
                broker.kill()
                assert broker.lose(chance)
                broker.start()
                time.sleep(SECONDS * chance.uniform(0.0, 0.5))
        finally:
            kill(stream)
    writing.is_over = True
    writing.join()
    broker.stop()
    time.sleep(growing.QUIET_SECONDS + 1)
    assert follow(broker.folder, place, "--once").wait(900) == 0, (place / "out.txt").read_text()[-2000:]
    assert_equal(broker, place)


def assert_equal(broker: Broker, place: Path) -> None:
    found = kafkatx.open([broker.data, broker.logs])
    for table, key in KEYS.items():
        final = [row for batch in found.table(table) for row in batch.to_pylist()]
        streamed = pyarrow.dataset.dataset(rows_of(place / table / "rows"), format="parquet").to_table().to_pylist()
        twice = [one for one, count in Counter(map(known_by(key), streamed)).items() if count > 1]
        assert not twice, (table, len(twice), twice[:5])
        by_place = {known_by(key[:-1])(row): row for row in streamed}
        missing = [row for row in final if known_by(key[:-1])(row) not in by_place]
        assert not missing, (table, len(missing), missing[:3])
        whole = {known_by(key)(row): row for row in streamed}
        for row in final:
            same = whole.get(known_by(key)(row))
            if same is None:
                assert is_compacted(row), (table, row)
            elif not is_compacted(row):
                assert without(row) == without(same)
        print(f"{table}: {len(streamed)} rows streamed, {len(final)} there at the end")
    assert len(final) > 50


KEYS: dict[str, tuple[str, ...]] = {
    "batches": ("topic", "partition", "leader_epoch", "base_offset", "crc"),
    "markers": ("topic", "partition", "record_offset", "coordinator_epoch", "timestamp"),
    "transaction_states": ("partition", "leader_epoch", "record_offset", "timestamp"),
    "log_events": ("text", "event_time", "line"),
}
"""What makes a row one of a kind; the last column may differ where the cleaner wrote a batch anew."""


def known_by(names: tuple[str, ...]) -> Any:
    return lambda row: tuple(row[name] for name in names)


def rows_of(folder: Path) -> list[str]:
    """The files that the stream committed: what a killed task left beside them does not count."""
    names: dict[str, str] = {}
    logs = [path for path in (folder / "_spark_metadata").iterdir() if not path.name.startswith(".")]
    for log in sorted(logs, key=lambda path: (int(path.stem), path.suffix)):
        for line in log.read_text().splitlines()[1:]:
            names[json.loads(line)["path"]] = json.loads(line)["action"]
    return [path.removeprefix("file://") for path, action in names.items() if action == "add"]


def is_compacted(row: dict[str, Any]) -> bool:
    return row.get("topic") in ("accounts", "__consumer_offsets", "__transaction_state") or "state" in row


def without(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in MAYBE}
