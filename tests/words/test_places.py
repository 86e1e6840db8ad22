"""Where data lie, as sentences name it; of texts that don't say which partition it is, too."""

import pytest

from kafkatx.words.values import Count, OffsetRange, TopicPartition


@pytest.mark.parametrize(
    ("topic", "partition", "place", "said"),
    [
        ("orders", 0, "orders-0", "orders-0 @ 118..121"),
        ("(topic not named)", -1, "an unnamed partition", "offsets 118..121"),
    ],
)
def test_a_partition_without_a_name_is_not_printed(topic, partition, place, said):
    where = OffsetRange(topic, partition, 118, 121, Count(4))
    assert (f"{where}", f"{where.place}", f"{TopicPartition(topic, partition)}") == (said, place, place)
