"""Plain listings of the console consumer, and two of them beside each other."""

from pathlib import Path

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.text.tools.consumed import Consumed, compared, consumed_records
from tests.text.dump.comparing import whole

PRINTED = Path(__file__).parent.parent / "dump/printed"


def read(path: Path, **about) -> list[Consumed]:
    with OpenFile(str(path)) as file:
        return list(consumed_records(file, whole(file, **about)))


def test_a_listing_that_a_release_printed():
    first, second = read(PRINTED / "2.8.2/console-records.txt")
    assert (first.partition, first.offset, first.timestamp, first.key, first.value) == (
        0, 52, 1795257650116, "acct-2", "null",
    )  # fmt: skip
    assert (second.offset, second.value) == (54, '{"n":43,"amount":591,"text":"srqxcjuibjnpfjrqnalsbeujuzhng"}')


def test_values_that_go_on_in_further_lines_make_no_records_of_their_own():
    found = read(PRINTED / "4.1.2/console-records.txt")
    assert [record.offset for record in found] == [*range(5, 76), 83]
    assert "line\nbaseOffset: 0 lastOffset: 9" in {record.value.rstrip("\r\n") for record in found}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("CreateTime:5\tPartition:1\tOffset:24\tk\tv", (1, 24, 5, "k", "v")),
        ("Partition:1\tOffset:24\tv", (1, 24, None, None, "v")),
        ("Offset:24\tv", (None, 24, None, None, "v")),
        ("CreateTime:5  Offset:24  hello world", (None, 24, 5, None, "hello world")),
        ("NO_TIMESTAMP\tOffset:24\tv", (None, 24, None, None, "v")),
        ("> LogAppendTime:5\tOffset:24\tv", (None, 24, 5, None, "v")),
        ("CreateTime:5\tPartition:1\tOffset:24\tNO_HEADERS\tk\tv", (1, 24, 5, "k", "v")),
    ],
)
def test_properties_in_every_shape(line, expected, tmp_path):
    path = tmp_path / "page.txt"
    path.write_text(f"{line}\n")
    (found,) = read(path)
    assert (found.partition, found.offset, found.timestamp, found.key, found.value) == expected


def test_the_partition_of_the_command_holds_where_the_line_says_none(tmp_path):
    path = tmp_path / "page.txt"
    path.write_text("Offset:3\tv\n")
    assert read(path, partition=4)[0].partition == 4


def listing(*offsets: int, partition: int | None = 0) -> list[Consumed]:
    return [Consumed(1, 0, partition, offset, None, None, None, "v") for offset in offsets]


def test_two_listings_say_what_was_passed_over_and_what_waits():
    (found,) = compared(listing(0, 2, 3, 5, 6, 24, 30, 31), listing(3, 24))
    assert (found.first, found.last, found.passed) == (0, 31, 24)
    assert found.hidden_before == ((0, 0), (2, 2), (5, 6))
    assert found.hidden_after == ((30, 31),)


def test_a_reader_that_was_given_nothing_passed_nothing():
    (found,) = compared(listing(0, 1), [])
    assert (found.passed, found.hidden_before, found.hidden_after) == (None, (), ((0, 1),))


def test_partitions_are_compared_apart():
    found = compared([*listing(0, 2), *listing(5, partition=1)], [*listing(1, 9), *listing(5, partition=1)])
    assert [one.partition for one in found] == [0, 1]
    assert found[0].passed == 1
    assert found[1].hidden_after == ()


def test_records_without_an_offset_say_nothing():
    assert compared([Consumed(1, 0, 0, None, None, None, None, "v")], listing(1)) == []
