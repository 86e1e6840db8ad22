"""Segments that nobody read are a gap: in the offsets, in the coverage, and to whoever concludes from absence."""

from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.unread import NOT_READ, light, unread_ranges, unread_size, with_unread
from kafkatx.formats.file_names import PartitionFolder
from kafkatx.segments.batches import NO_LIMIT
from kafkatx.stages.capture_facts import whole_coverage
from kafkatx.stages.models import build_models, open_captures
from tests.evidence import broker_folders, fixture_cases


def segment(base):
    return Item(f"d/t-0/{base:020}.log", "d", "d", Kind.LOG, 100, PartitionFolder("t", 0), base)


def test_a_range_in_the_middle_is_missing_and_one_at_the_begin_was_never_given():
    items = [segment(base) for base in (0, 10, 20, 30)]
    assert unread_ranges([items[0], items[2]], [items[1], items[3]]) == ((20, 30),)


def test_of_an_end_that_nobody_read_one_offset_at_least_is_missing():
    items = [segment(base) for base in (0, 10)]
    assert unread_ranges(items[1:], items[:1]) == ((10, 11),)
    assert NO_LIMIT not in unread_ranges(items[1:], items[:1])[0]


def case():
    found = next(one for one in fixture_cases() if one.name == "k39-codecs")
    return open_captures(broker_folders(found))[0]


def data(capture):
    items = [item for one in capture.directories for item in one.items if item.left_out in (None, NOT_READ)]
    return [item for item in items if item.kind is Kind.LOG and item.topic and not item.topic.startswith("__")]


def test_a_partition_that_is_read_in_part_has_gaps():
    capture = case()
    of_partition = sorted((item for item in data(capture) if item.folder.partition == 1), key=lambda one: one.path)
    assert len(of_partition) > 2
    wanted = {of_partition[0].key, of_partition[-1].key}
    model = next(build_models([with_unread(capture, wanted)])).model
    extents = [one for one in model.log_extents.values() if one.topic == of_partition[0].topic]
    assert [(one.partition, one.has_gaps) for one in extents] == [(1, True)]


def test_what_was_not_read_is_covered_as_that():
    capture = with_unread(case(), ())
    notes = {entry.path: (entry.status, entry.note) for entry in whole_coverage(capture, [])}
    assert all(notes[item.path] == ("left out", NOT_READ) for item in data(capture))
    size = unread_size(capture)
    assert (size.segments, size.of) == (len(data(capture)), len(data(capture)))


def test_a_light_capture_has_as_many_brokers_and_the_partitions_they_hold():
    capture = with_unread(case(), ())
    made = light(capture)
    assert (made.brokers, made.known_brokers) == (capture.brokers, capture.known_brokers)
    assert [one.partitions for one in made.directories] == [one.partitions for one in capture.directories]
    assert made.segments().keys() == capture.segments().keys()
