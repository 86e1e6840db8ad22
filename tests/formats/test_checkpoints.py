import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.checkpoints import (
    LEADER_EPOCHS,
    OFFSET_CHECKPOINTS,
    Checkpoint,
    EpochStart,
    PartitionOffset,
    parse_leader_epochs,
    parse_offsets,
)
from kafkatx.formats.text_problem import SHOWN
from tests.formats.captures import broker_files


def test_offsets_are_read_in_the_order_of_the_file():
    checkpoint = parse_offsets("0\n2\norders-eu 1 42\n__transaction_state 0 9223372036854775807\n")
    assert checkpoint.entries == (
        PartitionOffset("orders-eu", 1, 42),
        PartitionOffset("__transaction_state", 0, 2**63 - 1),
    )
    assert checkpoint.problems == ()


def test_leader_epochs_are_read():
    assert parse_leader_epochs("0\n2\n0 0\n2 10\n") == Checkpoint((EpochStart(0, 0), EpochStart(2, 10)), ())


@pytest.mark.parametrize("text", ["", "0\n0\n", "0\n0"])
def test_no_entries_are_no_problem(text):
    assert parse_offsets(text) == Checkpoint((), ())


def test_a_missing_final_newline_is_no_problem():
    assert parse_offsets("0\n1\norders 0 1").problems == ()


@pytest.mark.parametrize("first", ["1", "-1", "x", "", "\x00" * 50, "00000000000000000000000"])
def test_of_another_version_nothing_is_read(first):
    checkpoint = parse_offsets(f"{first}\n1\norders 0 1\n")
    assert checkpoint.entries == ()
    assert [problem.line for problem in checkpoint.problems] == [1]


@pytest.mark.parametrize(
    "line",
    [
        "orders 0",
        "orders 0 1 2",
        "orders x 1",
        "orders 0 9223372036854775808",
        "orders 2147483648 0",
        "",
        "a ٣ 1",
        "a +1 1",
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(line):
    checkpoint = parse_offsets(f"0\n3\norders 0 1\n{line}\norders 1 2\n")
    assert [entry.partition for entry in checkpoint.entries] == [0, 1]
    assert [(problem.line, problem.found) for problem in checkpoint.problems] == [(4, line)]


@pytest.mark.parametrize(
    "text", ["0\n2\norders 0 1\n", "0\n0\norders 0 1\n", "0\nx\norders 0 1\n", "0\n-1\norders 0 1\n"]
)
def test_a_wrong_number_of_entries_is_named_and_the_lines_are_read(text):
    checkpoint = parse_offsets(text)
    assert checkpoint.entries == (PartitionOffset("orders", 0, 1),)
    assert [problem.line for problem in checkpoint.problems] == [2]


def test_a_file_that_ends_after_its_version_is_a_problem():
    assert [problem.line for problem in parse_offsets("0\n").problems] == [2]


def test_a_long_wrong_line_is_cut():
    (problem,) = parse_offsets("z" * 10_000).problems
    assert len(problem.found) == SHOWN


@given(st.text(max_size=80) | st.text(alphabet="0 1\n-x\x00\r", max_size=40).map(lambda text: f"0\n{text}"))
def test_any_text_is_read_without_an_error(text):
    for parse in (parse_offsets, parse_leader_epochs):
        checkpoint = parse(text)
        assert all(problem.line >= 1 for problem in checkpoint.problems)


@given(
    st.lists(st.tuples(st.from_regex(r"[a-z._-]{1,9}", fullmatch=True), st.integers(0, 99), st.integers(0, 2**63 - 1)))
)
def test_what_kafka_writes_comes_back(entries):
    text = f"0\n{len(entries)}\n" + "".join(f"{topic} {partition} {offset}\n" for topic, partition, offset in entries)
    assert parse_offsets(text) == Checkpoint(tuple(PartitionOffset(*entry) for entry in entries), ())


def test_every_recorded_checkpoint_is_read_without_a_problem():
    count = 0
    for name in OFFSET_CHECKPOINTS:
        for path in broker_files(name):
            checkpoint = parse_offsets(path.read_text())
            assert checkpoint.problems == (), path
            count += len(checkpoint.entries)
    assert count
    epochs = [parse_leader_epochs(path.read_text()) for path in broker_files(f"*/{LEADER_EPOCHS}")]
    assert any(checkpoint.entries for checkpoint in epochs)
    assert all(checkpoint.problems == () for checkpoint in epochs)
