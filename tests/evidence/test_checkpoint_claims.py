import pytest

from kafkatx.evidence.checkpoint_claims import explained_below, highest_mark, known_end, named_partitions
from kafkatx.evidence.item import Kind
from kafkatx.segments.batches import NO_LIMIT
from kafkatx.stages.models import open_captures
from tests.building import data_batch, segment

ORDERS, STATE = ("orders", 0), ("__transaction_state", 3)


@pytest.fixture
def directory(tmp_path):
    segment(tmp_path / "orders-0", [data_batch(0, 7)])
    segment(tmp_path / "__transaction_state-3", [])
    return tmp_path


def capture(directory):
    (found,) = open_captures([directory])
    return found


def end_of(directory):
    found = capture(directory)
    named = [*found.entries(Kind.LOG).get(ORDERS, []), *found.entries(Kind.SNAPSHOT).get(ORDERS, [])]
    return known_end(found, ORDERS, named)


def mark(directory, name, *lines):
    (directory / name).write_text("\n".join(["0", str(len(lines)), *lines, ""]))


def test_the_end_is_as_high_as_any_mark_of_it(directory):
    assert end_of(directory) == 0
    mark(directory, "recovery-point-offset-checkpoint", "orders 0 5")
    assert end_of(directory) == 5
    mark(directory, "replication-offset-checkpoint", "orders 0 9", "orders 1 99")
    assert end_of(directory) == 9
    (directory / "orders-0" / "00000000000000000012.snapshot").write_bytes(b"")
    assert end_of(directory) == 12
    segment(directory / "orders-0", [], name="00000000000000000030.log")
    assert end_of(directory) == 30


def test_a_file_that_waits_for_its_deletion_says_nothing_of_the_end(directory):
    (directory / "orders-0" / "00000000000000000012.snapshot.deleted").write_bytes(b"")
    assert end_of(directory) == 0


def test_without_the_cleaners_checkpoint_only_internal_topics_may_have_been_cleaned(directory):
    assert explained_below(capture(directory), ORDERS) == 0
    assert explained_below(capture(directory), STATE) == NO_LIMIT


def test_the_cleaners_checkpoint_names_what_was_cleaned(directory):
    mark(directory, "cleaner-offset-checkpoint", "__transaction_state 3 17")
    assert explained_below(capture(directory), STATE) == 17
    assert explained_below(capture(directory), ORDERS) == 0


def test_an_empty_cleaners_checkpoint_says_that_nothing_was_cleaned_and_a_broken_one_nothing(directory):
    (directory / "cleaner-offset-checkpoint").write_text("")
    assert explained_below(capture(directory), STATE) == 0
    (directory / "cleaner-offset-checkpoint").write_text("0\n2\norders 0 1\n")
    assert explained_below(capture(directory), STATE) == NO_LIMIT


def test_partitions_are_named_by_checkpoints_whether_their_files_are_at_hand_or_not(directory):
    mark(directory, "replication-offset-checkpoint", "__transaction_state 3 0", "__transaction_state 4 2", "orders 0 1")
    assert named_partitions(capture(directory), "__transaction_state") == {3, 4}
    assert highest_mark(capture(directory), ("__transaction_state", 4), "high_watermarks") == 2
    assert highest_mark(capture(directory), ("__transaction_state", 4), "recovery_points") == -1
