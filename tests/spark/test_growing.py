"""What a stream reads of files that grow: each batch once, whatever brokers do to the files between two looks."""

import json
import os
import random
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafkatx.evidence import log_tails
from kafkatx.formats import transaction_log
from kafkatx.spark import growing, growth_rows
from kafkatx.spark.failures import WorkerLacksFileError
from kafkatx.spark.growing import Growing
from kafkatx.spark.growth_rows import rows_of_growth
from kafkatx.spark.request import request
from kafkatx.stages.blocks import packed, unpacked
from tests.building import batch, data_batch, marker, segment, states
from tests.evidence import fixtures
from tests.spark.disk import Disk
from tests.spark.tables import here


@dataclass
class Stream:
    """A stream as Spark runs it: offsets are JSON that is written down before a batch is read, tasks travel."""

    root: Path
    table: str = "batches"
    offset: dict[str, Any] = field(default_factory=dict)
    planned: dict[str, Any] | None = None
    growing: Growing | None = None

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin anew, knowing nothing but the offsets that were written down."""
        self.growing = Growing(request(self.table), [str(self.root)])

    def plan(self) -> None:
        """Write down how far the next batch goes."""
        if self.planned is None:
            assert self.growing is not None
            self.planned = json.loads(json.dumps(self.growing.offset(self.offset)))

    def read(self) -> list[dict[str, Any]]:
        """Read the next batch, and write down that it was."""
        self.plan()
        assert self.planned is not None
        assert self.growing is not None
        tasks = unpacked(packed(self.growing.tasks(self.offset, self.planned)))
        rows = [row for task in tasks for batch in rows_of_growth(task) for row in batch.to_pylist()]
        self.offset, self.planned = self.planned, None
        return rows


EXAMPLES = int(os.environ.get("KAFKATX_EXAMPLES", "60"))
"""The same in each run; with 500 and more by hand others: of some 2,000 one has a batch twice, after two truncations in
one epoch (docs/spark.md)."""
STEPS = ["append", "append", "roll", "fail_over", "compact", "retain", "read", "plan", "restart"]


@settings(max_examples=EXAMPLES, derandomize="KAFKATX_EXAMPLES" not in os.environ)
@given(steps=st.lists(st.sampled_from(STEPS), min_size=5, max_size=40), seed=st.integers(0, 2**32))
@example(steps=["append", "roll", "append", "read", "fail_over"], seed=0)  # a whole segment and some before it
def test_each_batch_is_read_once(tmp_path_factory, steps, seed):
    root = tmp_path_factory.mktemp("grown")
    disk = Disk(root / "orders-0", random.Random(seed))
    stream, seen = Stream(root), set[tuple[int, int]]()
    for step in [*steps, "finish", "read", "read"]:
        if step == "restart":
            stream.start()
        elif step == "plan":
            stream.plan()
        elif step != "read":
            getattr(disk, step)()
        else:
            was_planned, there = stream.planned is not None, disk.all()
            found = [(row["base_offset"], row["crc"]) for row in stream.read()]
            assert len(found) == len(set(found))
            assert seen.isdisjoint(found)
            assert set(found) <= there
            seen |= set(found)
            assert was_planned or there <= seen
    assert disk.all() <= seen


def rolled_and_cleaned(folder: Path, *left: int) -> None:
    """What a broker may do to the active segment between two system calls of who looks: of 20 batches few are left."""
    segment(folder, [batch(20, b"x")], f"{20:020}.log")
    cleaned = segment(folder, [batch(at, b"x" * at) for at in left], f"{0:020}.log.cleaned")
    cleaned.rename(folder / f"{0:020}.log")


@pytest.mark.parametrize(("where", "left"), [("end_of", [4]), ("since", [4, 15, 19])])
def test_a_segment_that_is_cleaned_while_it_is_looked_at_was_not_truncated(tmp_path, monkeypatch, where, left):
    folder, stream, found = tmp_path / "orders-0", Stream(tmp_path), []
    segment(folder, [batch(at, b"x" * at) for at in range(15)])
    found += stream.read()
    segment(folder, [batch(at, b"x" * at) for at in range(20)])
    if where == "since":
        stream.plan()
        stream.start()
    look = getattr(growing, where)

    def looked(*given: Any) -> Any:
        if not (folder / f"{20:020}.log").exists():
            rolled_and_cleaned(folder, *left)
        return look(*given)

    monkeypatch.setattr(growing, where, looked)
    for _ in range(3):
        found += stream.read()
    assert [row["base_offset"] for row in found] == [*range(15), *left[1:], 20]


def test_a_segment_that_is_cleaned_before_a_task_opens_it_is_read_from_its_beginning(tmp_path, monkeypatch):
    folder, stream = tmp_path / "orders-0", Stream(tmp_path)
    segment(folder, [batch(at, b"x" * at) for at in range(15)])
    stream.read()
    segment(folder, [batch(at, b"x" * at) for at in range(20)])
    read = growth_rows.new_rows

    def opened(*given: Any) -> Any:
        if not (folder / f"{20:020}.log").exists():
            rolled_and_cleaned(folder, 4, 15, 19)
        return read(*given)

    monkeypatch.setattr(growth_rows, "new_rows", opened)
    found = [*stream.read(), *stream.read()]
    assert [row["base_offset"] for row in found] == [15, 19, 20]


@pytest.mark.parametrize(
    ("note", "again"),
    [("0\n2\n0 0\n1 3\n", []), ("0\n1\n0 0\n", [2]), ("0\n3\n0 0\n1 3\n", [2]), ("7\n2\n0 0\n1 3\n", [2]), (None, [2])],
)
def test_an_epoch_whose_batches_a_cleaner_took_is_known_by_the_brokers_note(tmp_path, note, again):
    folder, stream = tmp_path / "orders-0", Stream(tmp_path)
    segment(folder, [batch(at, b"x", partition_leader_epoch=0) for at in range(5)])
    active = segment(folder, [batch(at, b"x", partition_leader_epoch=0) for at in range(5, 8)], f"{5:020}.log")
    assert len(stream.read()) == 8
    active.unlink()  # truncated to offset 3, where epoch 1 wrote one batch; rolled; cleaned of that and another one
    segment(folder, b"", f"{4:020}.log")
    segment(folder, [batch(at, b"x", partition_leader_epoch=0) for at in (0, 2)])
    if note is not None:
        (folder / "leader-epoch-checkpoint").write_text(note)
    assert [row["base_offset"] for row in stream.read()] == again
    segment(folder, [batch(4, b"x", partition_leader_epoch=1)], f"{4:020}.log")
    assert [row["base_offset"] for row in stream.read()] == [4]


@pytest.mark.parametrize("tail", [64, 1 << 20])
def test_a_log_is_seen_by_its_tail(tmp_path, monkeypatch, tail):
    monkeypatch.setattr(log_tails, "TAIL", tail)
    log = [data_batch(at, 7, b"x" * at, base_sequence=at) for at in range(50)]
    path = segment(tmp_path / "orders-0", log)
    stream = Stream(tmp_path)
    assert [row["base_offset"] for row in stream.read()] == [*range(50)]
    path.write_bytes(b"".join(log) + marker(50, 7) + data_batch(51, 7)[:40])
    assert [row["base_offset"] for row in stream.read()] == [50]
    assert stream.read() == []


@pytest.mark.parametrize("table", ["batches", "markers", "transaction_states", "log_events"])
def test_what_is_read_of_recorded_files_is_the_table(table):
    given = [str(fixtures() / "k39-fenced" / name) for name in ("broker-1", "logs")]
    stream = Stream(Path(given[0]), table)
    stream.growing = Growing(request(table), given)
    assert sorted(map(repr, stream.read())) == sorted(map(repr, here(given, table).to_pylist()))
    assert stream.read() == []


def test_only_what_is_new_is_opened_from_where_it_was_read(tmp_path, monkeypatch):
    log = [batch(at, b"x" * 50) for at in range(100)]
    path = segment(tmp_path / "orders-0", log[:90])
    segment(tmp_path / "orders-1", log)
    stream = Stream(tmp_path)
    stream.read()
    path.write_bytes(b"".join(log))
    stream.plan()
    assert stream.planned is not None
    (task,) = Growing(request("batches"), [str(tmp_path)]).tasks(stream.offset, stream.planned)
    (one,) = task.grown
    assert one.bytes == len(b"".join(log[90:]))


def test_rows_of_the_coordinator_and_markers(tmp_path):
    def value(state: int) -> transaction_log.TransactionLogValue:
        return transaction_log.TransactionLogValue(
            version=0, producer_id=5, producer_epoch=1, transaction_timeout_ms=1000, transaction_status=state,
            transaction_partitions=None, transaction_last_update_timestamp_ms=9, transaction_start_timestamp_ms=-1,
        )  # fmt: skip

    path = segment(tmp_path / "__transaction_state-3", [states(0, ("a", value(0)), ("b", value(0)))])
    segment(tmp_path / "orders-0", [data_batch(0, 5), marker(1, 5)])
    stream = Stream(tmp_path, "transaction_states")
    assert [row["transactional_id"] for row in stream.read()] == ["a", "b"]
    path.write_bytes(path.read_bytes() + states(2, ("a", None)))
    assert [(row["record_offset"], row["is_tombstone"]) for row in stream.read()] == [(2, True)]
    assert [row["record_offset"] for row in Stream(tmp_path, "markers").read()] == [1]


def test_a_topic_that_was_deleted_and_created_again_is_another_one(tmp_path):
    folder = tmp_path / "orders-0"
    stream = Stream(tmp_path)
    for number in range(2):
        segment(folder, [batch(at, b"a" * (number + 1)) for at in range(3)])
        (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {'AB'[number] * 22}")
        assert [row["base_offset"] for row in stream.read()] == [0, 1, 2]
        shutil.rmtree(folder)
        assert stream.read() == []


def test_a_log_that_is_away_for_a_while_is_not_read_again(tmp_path):
    segment(tmp_path / "orders-0", [batch(0, b"a")])
    segment(tmp_path / "orders-1", [batch(0, b"a")])
    stream = Stream(tmp_path)
    assert len(stream.read()) == 2
    (tmp_path / "orders-0").rename(tmp_path.parent / "away")
    assert stream.read() == []
    (tmp_path.parent / "away").rename(tmp_path / "orders-0")
    assert stream.read() == []


def test_offsets_do_not_grow_with_what_is_read(tmp_path):
    sizes = []
    for count in (100, 10_000):
        segment(tmp_path / "orders-0", [batch(at, b"a") for at in range(count)])
        sizes.append(len(json.dumps(Growing(request("batches"), [str(tmp_path)]).offset({}))))
    assert sizes[1] < sizes[0] + 500


def test_an_offset_of_another_layout_is_refused():
    with pytest.raises(ValueError, match="begin with a new checkpoint"):
        growing.ends_of({"layout": 77, "ends": {}})


LINE = "[2026-11-21 10:{:02d}:00,000] INFO [TransactionCoordinator id=1] Initialized transactionalId a-{} with producerId {} and producer epoch 0 on partition __transaction_state-3 (kafka.coordinator.transaction.TransactionCoordinator)\n"  # noqa: E501


def lines(*numbers: int) -> str:
    return "".join(LINE.format(number, number, number) for number in numbers)


def quiet(path: Path) -> None:
    """As if nobody had written to a file for some time."""
    before = time.time() - 60
    os.utime(path, (before, before))


def test_entries_of_logs_are_read_once_also_when_a_log_is_rolled(tmp_path):
    path, stream = tmp_path / "server.log", Stream(tmp_path, "log_events")

    def ids() -> list[Any]:
        return [row["producer_id"] for row in stream.read()]

    path.write_text(lines(1, 2))
    assert ids() == [1]
    with path.open("a") as file:
        file.write(lines(3) + lines(4)[:50])
    assert ids() == [2]
    path.rename(tmp_path / "server.log.2026-11-21-10")
    path.write_text(lines(5, 6)[:-1])
    stream.start()
    rolled = tmp_path / "server.log.2026-11-21-10"
    rolled.write_text(lines(1, 2, 3, 4))
    assert ids() == [3]
    for one in (path, rolled):
        quiet(one)
    assert sorted(ids()) == [4, 5]
    assert ids() == []


@pytest.mark.parametrize("where", ["new_events", "_is"])
def test_a_log_that_is_rolled_before_a_task_opens_it_is_read_all_the_same(tmp_path, monkeypatch, where):
    """Each name is another text's by then, and the one that is looked for has a name that was looked at before."""
    names = [tmp_path / name for name in ("server.log.2", "server.log.1", "server.log")]
    for number, path in enumerate(names):
        path.write_text(lines(3 * number, 3 * number + 1, 3 * number + 2))
        quiet(path)
    stream, rolled = Stream(tmp_path, "log_events"), list[int]()
    stream.plan()
    look = getattr(growth_rows, where)

    def looked(*given: Any) -> Any:
        if len(rolled) < 2:
            rolled.append(1)
            for path in sorted(tmp_path.glob("server.log*"), reverse=True):
                path.rename(tmp_path / f"server.log.{int(path.suffix[1:]) + 1 if path.suffix != '.log' else 1}")
            (tmp_path / "server.log").write_text(lines(100 + len(rolled)))
        return look(*given)

    monkeypatch.setattr(growth_rows, where, looked)
    assert sorted(row["producer_id"] for row in stream.read()) == [*range(9)]


def test_a_path_that_a_worker_lacks_is_told(tmp_path):
    root = tmp_path / "data"
    segment(root / "orders-0", [batch(0, b"a")])
    stream = Stream(root)
    stream.plan()
    assert stream.planned is not None
    (task,) = stream.growing.tasks({}, stream.planned)  # type: ignore[union-attr]
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(WorkerLacksFileError, match=r"worker \S+ can't open .*: No such file"):
        list(rows_of_growth(task))
