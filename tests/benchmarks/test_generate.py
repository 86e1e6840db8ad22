"""The generated directories hold what they say, read back without the generators' or the package's code."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from google_crc32c import value as crc32c

from tests.benchmarks import generate, state_log
from tests.benchmarks.data_directory import Partition

TRANSACTIONS = 128
VALUE_LENGTH_BYTES = 1
ORDINARY_BYTES = 2 << 20


class Batch(NamedTuple):
    """A batch as struct reads it."""

    position: int
    base: int
    last: int
    sequence: int
    attributes: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    record_count: int
    is_valid: bool
    body: bytes

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & 0x20)

    @property
    def commits(self) -> bool:
        return self.body[8] == 1


class State(NamedTuple):
    """A row of the state log, from its end: the record ends with times and the count of headers."""

    offset: int
    at: int
    producer_id: int
    state: int
    updated_at: int
    started_at: int


def batches(folder: Path) -> Iterator[Batch]:
    for file in sorted(folder.glob("*.log")):
        raw, position = file.read_bytes(), 0
        while position < len(raw):
            base, length = struct.unpack_from(">qi", raw, position)
            crc, attributes, delta, oldest, newest, producer_id, _, sequence, count = struct.unpack_from(
                ">IhiqqqhiI", raw, position + 17
            )
            end = position + 12 + length
            is_valid = crc32c(raw[position + 21 : end]) == crc
            body = raw[position + 61 : end]
            yield Batch(
                position, base, base + delta, sequence, attributes, oldest, newest, producer_id, count, is_valid, body
            )
            position = end


def states(directory: Path) -> list[State]:
    found = []
    for row in batches(directory / state_log.NAME):
        updated_at, started_at = struct.unpack(">qq", row.body[-17:-1])
        value_at = row.body.index(b"orders-app-") + len("orders-app-00") + VALUE_LENGTH_BYTES
        version, producer_id, _, _, state = struct.unpack_from(">hqhib", row.body, value_at)
        assert version == 0
        found.append(State(row.base, row.max_timestamp, producer_id, state, updated_at, started_at))
    return found


def entries(folder: Path, suffix: str, form: str) -> list[tuple[int, tuple[int, ...]]]:
    """Entries of index files with the base offset of their segment."""
    files = sorted(folder.glob(f"*.{suffix}"))
    return [(int(file.stem), entry) for file in files for entry in struct.iter_unpack(form, file.read_bytes())]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate.tiny(tmp_path_factory.mktemp("tiny") / "data", TRANSACTIONS)


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate.ordinary(tmp_path_factory.mktemp("ordinary") / "data", ORDINARY_BYTES, transactions=16)


@pytest.fixture(params=["tiny", "ordinary"])
def directory(request: pytest.FixtureRequest) -> Path:
    made: Path = request.getfixturevalue(request.param)
    return made


@pytest.mark.parametrize("partition", ["orders-0", state_log.NAME])
def test_every_crc_is_right_and_offsets_have_no_gap(directory: Path, partition: str) -> None:
    found = list(batches(directory / partition))
    assert all(batch.is_valid for batch in found)
    assert [batch.base for batch in found] == [0, *(batch.last + 1 for batch in found[:-1])]
    assert all(batch.last - batch.base + 1 == batch.record_count for batch in found)


def test_sequences_of_each_producer_follow_each_other(directory: Path) -> None:
    following: dict[int, int] = {}
    for batch in batches(directory / "orders-0"):
        if not batch.is_control:
            assert batch.sequence == following.get(batch.producer_id, 0)
            following[batch.producer_id] = batch.sequence + batch.record_count


def test_each_transaction_of_tiny_is_a_batch_of_two_and_a_marker_and_every_sixteenth_aborts(tiny: Path) -> None:
    found = list(batches(tiny / "orders-0"))
    ends = [batch for batch in found if batch.is_control]
    assert len(ends) == len(found) - len(ends) == TRANSACTIONS
    assert all(batch.record_count == 2 for batch in found if not batch.is_control)
    assert [end.commits for end in ends] == [number % 16 != 15 for number in range(TRANSACTIONS)]


def test_abort_index_agrees_with_a_replay_of_the_log(tiny: Path) -> None:
    expected, opened = [], dict[int, int]()
    for batch in batches(tiny / "orders-0"):
        if not batch.is_control:
            opened.setdefault(batch.producer_id, batch.base)
            continue
        first = opened.pop(batch.producer_id)
        if not batch.commits:
            expected.append((0, batch.producer_id, first, batch.base, min(opened.values(), default=batch.base + 1)))
    assert len(expected) == TRANSACTIONS // 16
    assert [entry for _, entry in entries(tiny / "orders-0", "txnindex", ">hqqqq")] == expected


def test_state_rows_stand_around_data_and_marker_in_time(directory: Path) -> None:
    rows = states(directory)
    assert [row.at for row in rows] == sorted(row.at for row in rows)
    data: dict[int, list[Batch]] = {}
    waiting: dict[int, list[State]] = {}
    for row in rows:
        waiting.setdefault(row.producer_id, []).append(row)
    for batch in batches(directory / "orders-0"):
        data.setdefault(batch.producer_id, []).append(batch)
        if batch.is_control:
            first, *written = (turn for turn in data.pop(batch.producer_id))
            model = waiting[batch.producer_id]
            skip = 1 if model[0].state == state_log.EMPTY else 0
            ongoing, prepare, complete = model[skip : skip + 3]
            del model[: skip + 3]
            assert [row.state for row in (ongoing, prepare, complete)] == ([1, 2, 4] if batch.commits else [1, 3, 5])
            assert ongoing.started_at == ongoing.updated_at == prepare.started_at == complete.started_at
            times = [ongoing.at, first.max_timestamp, *(turn.max_timestamp for turn in written[:-1]), prepare.at]
            assert times == sorted(times)
            assert prepare.at <= complete.updated_at <= batch.max_timestamp <= complete.at
    assert not any(waiting.values())


@pytest.mark.parametrize("partition", ["orders-0", state_log.NAME])
def test_indexes_point_at_batches_and_times(directory: Path, partition: str) -> None:
    folder = directory / partition
    starts = {batch.position: batch.last for batch in batches(folder)}
    offsets = entries(folder, "index", ">ii")
    assert offsets
    assert all(starts[position] == base + relative for base, (relative, position) in offsets)
    newest = {batch.last: batch.max_timestamp for batch in batches(folder)}
    times = [(time, base + relative) for base, (time, relative) in entries(folder, "timeindex", ">qi")]
    assert times[-1][0] == max(newest.values())
    assert all(newest[offset] == time for time, offset in times)
    assert times == sorted(set(times))


def test_snapshot_holds_the_last_batch_of_every_producer(directory: Path) -> None:
    last = {batch.producer_id: batch for batch in batches(directory / "orders-0") if not batch.is_control}
    (file,) = (directory / "orders-0").glob("*.snapshot")
    raw = file.read_bytes()
    version, crc, count = struct.unpack_from(">hIi", raw)
    found = {entry[0]: entry for entry in struct.iter_unpack(">qhiqiqiq", raw[10:])}
    assert (version, crc, count) == (1, crc32c(raw[6:]), len(last))
    assert {pid: (entry[2], entry[3]) for pid, entry in found.items()} == {
        pid: (batch.sequence + batch.record_count - 1, batch.last) for pid, batch in last.items()
    }


def test_ordinary_of_any_size_has_the_same_transactions(ordinary: Path, tmp_path: Path) -> None:
    large = generate.ordinary(tmp_path / "data", 2 * ORDINARY_BYTES, transactions=16)
    small_ends, large_ends = ([b for b in batches(place / "orders-0") if b.is_control] for place in (ordinary, large))
    assert len(small_ends) == len(large_ends) == 16
    size = sum(file.stat().st_size for file in (large / "orders-0").glob("*.log"))
    assert 0.8 * 2 * ORDINARY_BYTES < size <= 2 * ORDINARY_BYTES


@pytest.mark.parametrize(
    "make", [lambda place: generate.tiny(place, 128), lambda place: generate.ordinary(place, 1 << 20, 8)]
)
def test_the_same_arguments_give_the_same_bytes(make: Callable[[Path], Path], tmp_path: Path) -> None:
    one, two = make(tmp_path / "one"), make(tmp_path / "two")
    files = [file.relative_to(one) for file in sorted(one.rglob("*")) if file.is_file()]
    assert len(files) > 10
    assert all((one / file).read_bytes() == (two / file).read_bytes() for file in files)


def test_state_log_can_be_left_out(tmp_path: Path) -> None:
    directory = generate.tiny(tmp_path / "data", 64, with_state_log=False)
    assert {row.state for row in states(directory)} == {state_log.EMPTY}


def test_segments_roll_before_they_grow_too_big(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "SEGMENT_BYTES", 14_000)
    rolled = generate.tiny(tmp_path / "data", TRANSACTIONS)
    files = sorted((rolled / "orders-0").glob("*.log"))
    assert len(files) == 2
    assert all(file.stat().st_size <= 14_000 for file in files)
    assert [b.base for b in batches(rolled / "orders-0")] == [b.base for b in batches(tiny / "orders-0")]
    assert {int(file.stem) for file in files} <= {b.base for b in batches(rolled / "orders-0")}
    assert len(list((rolled / "orders-0").glob("*.txnindex"))) == 2


def test_checkpoints_name_the_log_ends(directory: Path) -> None:
    ends = {name: list(batches(directory / name))[-1].last + 1 for name in ("orders-0", state_log.NAME)}
    lines = (directory / "replication-offset-checkpoint").read_text().splitlines()
    assert lines == ["0", "2", f"orders 0 {ends['orders-0']}", f"__transaction_state 0 {ends[state_log.NAME]}"]
    assert "cluster.id=" in (directory / "meta.properties").read_text()


def test_a_partition_without_blocks_closes_empty(tmp_path: Path) -> None:
    Partition(tmp_path, "orders-1", 1000).close("AAAAAAAAAAAAAAAAAAAAAA")
    assert (tmp_path / "orders-1" / "00000000000000000000.log").stat().st_size == 0
    assert (tmp_path / "orders-1" / "00000000000000000000.snapshot").stat().st_size == 10
