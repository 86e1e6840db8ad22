"""Stand-ins keep partitions, stems and what frameworks put around names."""

import re

from hypothesis import given
from hypothesis import strategies as st

from kafkatx.local.redacting.stand_ins import StandIns, split_name
from kafkatx.terms.catalogue.random_ids import skeleton_of
from kafkatx.terms.topics import partition_for


@given(st.lists(st.from_regex(r"[a-z]{1,8}(-[a-z0-9]{1,6}){0,2}", fullmatch=True), min_size=1, max_size=8, unique=True))
def test_an_id_belongs_to_the_partition_it_belonged_to(names):
    made = StandIns(50)
    made.add_ids(names)
    assert len(set(made.ids.values())) == len(names)
    assert not made.moved
    assert all(partition_for(name, 50) == partition_for(other, 50) for name, other in made.ids.items())


def test_ids_with_random_parts_share_a_stem_and_keep_their_shape():
    names = [f"billing-{number:08x}-1c2d-4e3f-8a9b-0123456789ab" for number in range(7_000_000, 7_000_012)]
    made = StandIns(50)
    made.add_ids(names)
    assert not made.moved
    skeletons = {skeleton_of(other) for other in made.ids.values()}
    assert len(skeletons) == 1
    assert "<uuid>" in skeletons.pop()
    assert not any("billing" in other for other in made.ids.values())


def test_names_of_an_application_of_streams_keep_their_relation():
    made = StandIns(2)
    uuid = "c0ffee00-1c2d-4e3f-8a9b-0123456789ab"
    made.add_ids([f"shop-{uuid}-1"])
    assert made.group_of("shop") + f"-{uuid}-1" == made.ids[f"shop-{uuid}-1"]
    assert re.fullmatch(
        rf"id-\d+-{uuid}-StreamThread-1-producer", made.client_of(f"shop-{uuid}-StreamThread-1-producer")
    )
    assert re.fullmatch(r"id-\d+-topic-1-changelog", made.topic_of("shop-store-changelog"))
    assert made.topic_of("__consumer_offsets") == "__consumer_offsets"


def test_a_name_is_split_into_what_frameworks_add_and_its_own_part():
    assert split_name("producer-payments-eu-1") == ("producer-", "payments-eu", "-1")
    assert split_name("etl-0_12") == ("", "etl", "-0_12")
    assert split_name("123") == ("", "123", "")
