"""Advice that the facts choose: whom to start, what not to restore, what to compare, what a job's kin met."""

import pytest

from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.findings.finding import Finding
from kafkatx.local.diagnosis import diagnose
from tests.evidence import fixtures


def found(diagnosis: Diagnosis, rule: str, name: str | None) -> Finding:
    (one,) = (
        one.finding for one in diagnosis.findings if one.finding.rule == rule and one.finding.transactional_id == name
    )
    return one


@pytest.fixture(scope="module")
def flink() -> Diagnosis:
    return diagnose([fixtures() / "f-flink-sink"])


def test_no_older_checkpoint_is_advised_without_what_it_costs(flink: Diagnosis):
    lost = [one.finding for one in flink.findings if one.finding.facts.get("checkpointed")]
    assert len(lost) == 2
    for finding in lost:
        assert "Do not restore the whole job from an older checkpoint" in finding.remedies[0].text
        assert "would be written twice" in finding.remedies[0].text


def test_an_open_transaction_of_a_job_that_times_out_is_told_by_its_kin(flink: Diagnosis):
    of_hourly = found(flink, "open_transaction", "hourly-sink-0-4")
    assert of_hourly.facts["kin"] == sum(one.finding.rule == "transaction_timed_out" for one in flink.findings) == 6
    assert of_hourly.remedies[0].text.startswith("Give the job a longer timeout")
    for one in flink.findings:
        if one.finding.rule == "open_transaction" and str(one.finding.transactional_id).startswith("copy-sink"):
            assert one.finding.facts["kin"] is None


@pytest.mark.parametrize("brokers", [(1, 2, 3), (3,), (1, 2)])
def test_the_broker_that_alone_holds_a_partition_is_named(brokers: tuple[int, ...]):
    """Of one directory nothing tells who else has it; of a partition that is not at hand nobody is known."""
    paths = [fixtures() / "c3-storm" / f"broker-{number}" for number in brokers]
    of_id = [one.finding for one in diagnose(paths).findings if one.finding.rule == "stuck_prepare"]
    for finding in of_id:
        is_named = "Start broker 3" in finding.remedies[0].text
        assert (finding.facts["holder"] == 3) is is_named is (brokers == (1, 2, 3))
    assert of_id or brokers == (3,)


def test_a_partition_of_the_coordinator_without_a_record_kept_nobody_waiting():
    told = [one.finding for one in diagnose([fixtures() / "c3-storm"]).findings]
    (away,) = (one for one in told if one.rule == "coordinator_unavailable")
    assert away.facts["is_empty"]
    assert "could not begin" not in away.summary


def test_what_an_old_instance_committed_late_is_named_to_be_compared():
    (told,) = (one.finding for one in diagnose([fixtures() / "k39-unstable-id"]).findings)
    assert "(ledger-0 @ 3..5 and ledger-1 @ 0..1)" in told.remedies[0].text
    assert "(ledger-0 @ 6..8 and ledger-1 @ 2..3)" in told.remedies[0].text


def test_a_transaction_that_hangs_can_be_ended_by_a_new_start():
    told = found(diagnose([fixtures() / "k39-open"]), "open_transaction", "batch-loader-7")
    assert "start it again under this transactional.id" in told.remedies[0].text


def test_each_commit_that_failed_is_a_call_that_failed():
    told = found(diagnose([fixtures() / "k27-client-versions"]), "abort_after_fatal_error", "slow-2-7")
    assert told.facts["later"] == 3
    assert set(told.facts["calls"]) == {"beginTransaction", "commitTransaction", "send"}


def test_two_instances_are_not_both_told_to_send_again():
    told = found(diagnose([fixtures() / "k27-client-versions"]), "abort_after_fatal_error", "fence-0-11")
    assert "not both" in told.remedies[0].text
