"""A small fleet: the second pass opens what is wrong and nothing else, and finds it."""

import pytest

from kafkatx.evidence.looking import LooksHere
from kafkatx.stages.models import joined_evidence
from kafkatx.stages.passes import suspected
from tests.benchmarks.fleet import Fleet, made
from tests.two_passes import in_two_passes, named_here

FLEET = Fleet(brokers=4, partitions=90, ids=60, hanging=3, stuck=4)


@pytest.fixture(scope="module")
def brokers(tmp_path_factory):
    return made(FLEET, tmp_path_factory.mktemp("fleet"))


def test_the_second_pass_opens_suspects_alone(brokers):
    [capture] = suspected(joined_evidence(brokers).captures, named_here, LooksHere())
    opened = {key for key in capture.segments() if not key[0].startswith("__")}
    assert opened == FLEET.suspects()


def test_what_is_wrong_is_found_and_the_rest_is_said_to_be_unread(brokers):
    found = in_two_passes(brokers)
    hanging = {(one["topic"], one["partition"]) for one in found["findings"] if one["rule"] == "hanging_transaction"}
    assert hanging == set(map(FLEET.place, FLEET.hangs))
    waiting = {one["transactional_id"] for one in found["findings"] if one["transactional_id"]}
    assert waiting == {f"team-{one % 97}-app-{one}" for one in FLEET.stuck_ids}
    stuck = [one for one in found["findings"] if one["rule"] == "stuck_prepare"]
    told = [step["text"] for one in stuck for step in one["steps"]]
    assert sum("may have got no marker" in text for text in told) == sum(len(one["facts"]["waiting"]) for one in stuck)
    left = (FLEET.partitions - len(FLEET.suspects())) * FLEET.copies * 2
    assert found["answer"]["examined"]["unread_segments"] == left
