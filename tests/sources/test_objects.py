"""Objects read over the S3 protocol from a server of our own: how often it is asked, and what it may do wrong."""

import random
from collections.abc import Iterator

import pytest

from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Kind
from kafkatx.segments.batches import SegmentWalk
from kafkatx.sources import objects, places, stores
from kafkatx.sources.files import OpenFile, read_small
from kafkatx.sources.states import FileState, file_states
from kafkatx.terms.errors import UsageError
from tests.building import batch
from tests.sources.s3_server import Bucket, serving

NOISE = random.Random(11).randbytes(3_000_000)


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with serving("evidence") as served:
        objects._OPEN.clear()
        yield served


def given(bucket: Bucket, key: str = "") -> str:
    return places.admitted([bucket.url(key)])[0]


def segment(size: int) -> bytes:
    """Batches of a kilobyte each up to about `size` bytes."""
    return b"".join(batch(offset, NOISE[offset : offset + 1024]) for offset in range(size // 1100))


def test_any_reads_give_the_bytes(bucket):
    bucket.objects["a/noise"] = NOISE
    chance = random.Random(3)
    with OpenFile(given(bucket, "a/noise")) as file:
        assert file.size == len(NOISE)
        for _ in range(300):
            begin, length = chance.randrange(len(NOISE) + 10), chance.choice([0, 1, 9, 5000, 200_000])
            assert file.read(begin, length) == NOISE[begin : begin + length]
        assert file.read(0, len(NOISE) + 1) == NOISE
        assert not file.is_unreadable(0, len(NOISE))


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, objects.FIRST - 1, objects.FIRST, objects.FIRST + 1])
def test_small_objects(bucket, size):
    bucket.objects["small"] = NOISE[:size]
    assert read_small(given(bucket, "small")) == NOISE[:size]


def test_a_segment_costs_a_handful_of_requests(bucket):
    key = "data/orders-0/00000000000000000000.log"
    bucket.objects[key] = segment(1 << 20)
    [item] = inventory([bucket.url("data")])
    assert (item.kind, item.topic, item.size) == (Kind.LOG, "orders", len(bucket.objects[key]))
    with OpenFile(item.path) as file:
        rows = sum(len(chunk.rows) for chunk in SegmentWalk(file).chunks())
    assert rows == (1 << 20) // 1100
    assert bucket.count("GET", key) <= 3
    assert bucket.count("HEAD", key) <= 1


def large_batches(bucket, size, count):
    """A segment of batches of one producer; where each begins."""
    values = [NOISE[:1_000_000]] * (size // 1_000_000)
    made = [
        batch(number * 10, *values, producer_id=1, producer_epoch=0, base_sequence=number * len(values))
        for number in range(count)
    ]
    bucket.objects["t-0/00000000000000000000.log"] = b"".join(made)
    return given(bucket, "t-0/00000000000000000000.log")


@pytest.mark.parametrize(("size", "least", "most"), [(6_000_000, 6, 14), (1_000_000, 0, 2)])
def test_records_of_large_batches_are_stepped_over_where_that_saves_more_than_a_request(bucket, size, least, most):
    path = large_batches(bucket, size, 8)
    stored = len(bucket.objects["t-0/00000000000000000000.log"])
    with OpenFile(path) as file:
        asked = []
        read = file._content._handle.read
        file._content._handle.read = lambda position, length: asked.append(length) or read(position, length)
        rows = [row for chunk in SegmentWalk(file).chunks() for row in chunk.rows]
    assert [int(row["base_offset"]) for row in rows] == [number * 10 for number in range(8)]
    few = [length for length in asked if length <= objects.FIRST]
    assert least <= len(few) <= most
    assert (sum(asked) < stored / 2) == (least > 0)


def test_who_reads_on_is_given_large_blocks(bucket):
    bucket.objects["x.log"] = bytes(48 << 20)
    step = (2 << 20) + 47  # a walk steps over what it knows of the next batch
    with OpenFile(given(bucket, "x.log")) as file:
        for position in range(0, file.size, step):
            assert not any(file.read(position, 2 << 20))
    assert bucket.count("GET", "x.log") <= 3 + (48 << 20) // objects.BLOCK + 1


def test_one_listing_for_all_and_no_request_for_a_size(bucket):
    for number in range(5000):
        bucket.objects[f"many/{number % 40}/{number}.snapshot"] = b""
    paths = stores.listing(given(bucket, "many"))
    assert len(paths) == 5000
    assert len(bucket.asked) <= 2 + 5 + 1
    bucket.asked.clear()
    folder = given(bucket, "many")
    assert stores.look(folder) == (False, True)
    asked = len(bucket.asked)
    assert sum(places.size(path) for path in stores.below(folder)) == 0
    assert sum(len(names) for _, names in places.folders_below(folder, [])) == 5000
    assert len(bucket.asked) == asked


HOSTILE = {
    "h/a/../plain.log": b"another",
    "h/./dot.log": b"dot",
    "h/a//empty.log": b"empty",
    "h/marker/": b"",
    "h/full/": b"content",
    "h/new\nline.log": b"newline",
    "h/esc\u202e ape%2F+?#.log": b"odd",
    "h/quote\"'<&>.log": b"quoted",
}


def test_hostile_keys_are_their_own_content_or_not_read(bucket):
    bucket.objects |= HOSTILE | {"h/plain.log": b"plain", "h/dot.log": b"nodot"}
    found = {item.path.removeprefix("s3://evidence/"): item for item in inventory([bucket.url("h")])}
    for key in ("h/a/../plain.log", "h/./dot.log", "h/a//empty.log"):
        assert found[key].kind is Kind.UNREADABLE
        assert found[key].left_out == stores.ELSEWHERE
        assert not any(one.key == key for one in bucket.asked)
        with pytest.raises(OSError, match="another object"):
            OpenFile(f"s3://evidence/{key}")
    for key in ("h/new\nline.log", "h/esc\u202e ape%2F+?#.log", "h/quote\"'<&>.log", "h/plain.log"):
        assert read_small(found[key].path) == bucket.objects[key]
    assert found["h/full"].left_out == "no such object"
    assert "h/marker" not in found
    assert len(found) == len(HOSTILE) - 1 + 2


@pytest.mark.parametrize(
    ("status", "reason"), [(403, "access denied"), (404, "no such object"), (500, "the store failed")]
)
def test_an_object_that_is_refused_at_opening(bucket, status, reason):
    bucket.objects["x.bin"] = NOISE[:100]
    bucket.status["HEAD", "x.bin"] = status
    with pytest.raises(OSError, match=reason) as refused:
        OpenFile(given(bucket, "x.bin"))
    assert str(refused.value.strerror).startswith(reason)


def test_an_object_that_went_after_it_was_listed(bucket):
    bucket.objects |= {"d/orders-0/00000000000000000000.log": segment(5000), "d/orders-0/x.txt": b""}
    [item, _] = inventory([bucket.url("d")])
    objects._OPEN.clear()
    bucket.objects.clear()
    with pytest.raises(OSError, match="no such object"):
        OpenFile(item.path)


@pytest.mark.parametrize("how", ["shorter", "gone", "403", "cut"])
def test_what_the_store_does_not_give_is_unreadable_and_never_made_up(bucket, how):
    whole = segment(300_000)
    bucket.objects["x.log"] = whole
    with OpenFile(given(bucket, "x.log")) as file:
        known = file.read(0, 10)
        if how == "shorter":
            bucket.objects["x.log"] = whole[:200_000]
        elif how == "gone":
            bucket.objects.clear()
        elif how == "403":
            bucket.status["GET", "x.log"] = 403
        else:
            bucket.cut.add("x.log")
        walk = SegmentWalk(file)
        rows = [row for chunk in walk.chunks() for row in chunk.rows]
        assert known == whole[:10]
        assert file.is_unreadable(150_000, len(whole) - 150_000)
        assert file.problem
    assert 50 < len(rows) <= 60  # those of the first block
    assert [one.kind for one in walk.damage] == ["unreadable"]
    assert bucket.count("GET", "x.log") < 80  # the store is tried again by its client, but not for each read


def test_a_body_shorter_than_asked_for_is_noticed_whatever_it_ends_with(bucket):
    bucket.objects["x"] = bytes(100_000)
    bucket.spoiled["x"] = lambda body: body[:-1]
    with OpenFile(given(bucket, "x")) as file:
        assert file.read(0, 100) == bytes(100)
        assert file.problem == "the object is shorter than it was"


def test_a_new_listing_sees_a_new_object(bucket):
    bucket.objects["a/x.txt"] = b"one"
    path = inventory([bucket.url("a")])[0].path
    assert read_small(path) == b"one"
    bucket.objects["a/x.txt"] = b"other"
    inventory([bucket.url("a")])
    assert read_small(path) == b"other"


def test_states_are_told_by_one_listing(bucket):
    bucket.objects |= {"a/x.txt": b"one", "a/b/y.txt": b"three", "a/z.txt": b""}
    paths = [item.path for item in inventory([bucket.url("a")])]
    bucket.objects["a/x.txt"] = b"longer"
    del bucket.objects["a/z.txt"]
    bucket.asked.clear()
    time = 1795256940 * 10**9
    assert file_states(paths) == [
        FileState("s3://evidence/a/b/y.txt", 5, time),
        FileState("s3://evidence/a/x.txt", 6, time),
        FileState("s3://evidence/a/z.txt", None, None),
    ]
    assert all(one.key in (None, "a") for one in bucket.asked)


def test_what_is_not_there_is_said_in_a_line(bucket):
    with pytest.raises(UsageError, match=r"^s3://evidence/a: no such object or folder in the store$"):
        inventory([bucket.url("a")])
    bucket.refuses_all = 403
    with pytest.raises(UsageError, match=r"^s3://evidence/a: access denied"):
        inventory([bucket.url("a")])


def test_a_store_that_is_silent_is_not_asked_for_each_object():
    asked = []

    def ask() -> None:
        with stores.told_as("s3://silent/a"):
            asked.append(1)
            raise OSError("AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 7")

    for _ in range(10):
        with pytest.raises(OSError, match="can't be reached"):
            ask()
    assert len(asked) == stores.MOST_SILENCES
    stores.take([])


def test_a_whole_bucket(bucket):
    bucket.objects |= {"top.txt": b"text", "a/b/x.txt": b"text"}
    assert [item.path for item in inventory([bucket.url("")])] == ["s3://evidence/a/b/x.txt", "s3://evidence/top.txt"]


def test_an_object_and_a_folder_of_one_name(bucket):
    bucket.objects |= {"a": b"Dumping nothing", "a/x.txt": b"text"}
    assert [item.path for item in inventory([bucket.url("a")])] == ["s3://evidence/a", "s3://evidence/a/x.txt"]


def test_the_way_to_a_store_is_handed_to_another_process(bucket, monkeypatch):
    bucket.objects["x.txt"] = b"text"
    path = given(bucket, "x.txt")
    told = [way for way in stores.ways() if way.shown == "s3://evidence"]
    objects._OPEN.clear()
    monkeypatch.setattr(stores, "_TABLE", stores._Table())
    stores.take(told)
    assert read_small(path) == b"text"
    assert all("AKIAFLEET" in (one.authorization or "") for one in bucket.asked)
