"""Causes: the graph of mechanisms, its visible conditions, and chains from the root to what an application sees."""

import pytest

from kafkatx.findings.causes import Graph, causes
from kafkatx.findings.finding import Finding, Subject
from kafkatx.rules.registry import RULES, judge
from kafkatx.terms.events import EventKind as Kind
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Remedy
from tests.histories.log_facts import FENCED, KAFKA_EXCEPTION, facts, line, milliseconds, settings, source
from tests.rules.cluster import MINUTE, SECOND, START
from tests.rules.log_told import ERROR_STATE, Client, beside, by_logs

NOTHING = by_logs([])
NOON = milliseconds("12:00:00")


def found(rule, since=0, until=60, name=None, verdict=Verdict.proved, **said):
    """A finding about the seconds after noon."""
    return Finding(rule, verdict, Severity.warning, rule, rule, transactional_id=name, since=NOON + since * SECOND,
                   until=NOON + until * SECOND, **said)  # fmt: skip


def of(*findings, model=NOTHING):
    """Rules that caused the last finding: the primary one, and the contributing ones."""
    told = causes(model, list(findings), RULES)[-1]
    primary = findings[told.primary].rule if told.primary is not None else None
    return primary, [findings[number].rule for number in told.contributing]


def test_every_edge_goes_from_a_lower_to_a_greater_depth():
    ties = {
        ("stuck_prepare", "concurrent_transactions_storm"),
        ("aborted_by_client", "partition_verification_failed"),  # an abort that its client did not send: no other one
    }
    for effect in RULES:
        for cause, _ in Graph(RULES).edges(effect):
            assert RULES[cause].depth < RULES[effect].depth or (cause, effect) in ties


@pytest.mark.parametrize(
    "effect", ["coordinator_unavailable", "transaction_timed_out", "unresolved_sequence", "stuck_prepare",
               "commit_outcome_unknown"],
)  # fmt: skip
def test_a_broker_that_was_away_meanwhile_is_the_cause(effect):
    away = found("broker_unreachable", 0, 90, nodes=(3,))
    assert of(away, found(effect, 30, 95, "orders")) == ("broker_unreachable", [])
    assert of(away, found(effect, 120, 180, "orders")) == (None, [])


def test_an_effect_that_was_over_before_has_another_cause():
    assert of(found("broker_unreachable", 60, 90), found("transaction_timed_out", 0, 30, "orders")) == (None, [])


@pytest.mark.parametrize("cause", ["broker_unreachable", "coordinator_unavailable"])
def test_a_call_that_gave_up_before_a_broker_went_waited_for_something_else(cause):
    """commitTransaction waits for a frozen follower; the coordinator is killed as it gives up."""
    gave_up = found("commit_outcome_unknown", 0, 8, "orders")
    assert of(found(cause, 9, 40), gave_up) == (None, [])
    assert of(found(cause, 7, 40), gave_up) == (None, [])
    assert of(found(cause, 3, 40), gave_up) == (cause, [])


def test_the_nearest_mechanism_is_the_cause_and_what_lies_behind_it_is_not_told_twice():
    chain = (
        found("broker_unreachable", 0, 60),
        found("coordinator_unavailable", 5, 70),
        found("commit_outcome_unknown", 10, 70, "orders"),
    )
    assert of(*chain) == ("coordinator_unavailable", [])
    assert of(chain[0], chain[2]) == ("broker_unreachable", [])


def test_what_is_not_behind_the_cause_contributes():
    config = found("misconfiguration", remedies=(Remedy("", "client", config="transaction.timeout.ms"),))
    timed_out = found("transaction_timed_out", 30, 60, "orders")
    assert of(found("broker_unreachable", 0, 90), config, timed_out) == ("broker_unreachable", ["misconfiguration"])


def test_a_setting_that_has_nothing_to_do_with_it_is_no_cause():
    config = found("misconfiguration", remedies=(Remedy("", "client", config="isolation.level"),))
    assert of(config, found("transaction_timed_out", 0, 60, "orders")) == (None, [])


def test_settings_of_another_id_are_no_cause():
    config = found("misconfiguration", name="b", remedies=(Remedy("", "client", config="transaction.timeout.ms"),))
    assert of(config, found("transaction_timed_out", 0, 60, "a")) == (None, [])


def test_the_coordinator_of_another_partition_is_no_cause(classic):
    classic.state_partitions = 1
    classic.init("orders")
    model = classic.model()
    other = found("coordinator_unavailable", topic=TRANSACTION_STATE, partition=17)
    assert of(other, found("commit_outcome_unknown", 0, 60, "orders"), model=model) == (None, [])
    own = found("coordinator_unavailable", topic=TRANSACTION_STATE, partition=0)
    assert of(own, found("commit_outcome_unknown", 0, 60, "orders"), model=model)[0] == "coordinator_unavailable"


def test_a_broker_that_did_not_lead_the_partition_left_nothing_stuck():
    leads = line("broker-1/server.log", "11:59:00", Kind.leader_changed, topic="transfers", partition=1, node=2)
    model = by_logs(facts([leads]))
    stuck = found("stuck_prepare", 5, 80, "orders", topic="transfers", partition=1)
    assert of(found("broker_unreachable", 0, 60, nodes=(3,)), stuck, model=model) == (None, [])
    assert of(found("broker_unreachable", 0, 60, nodes=(2,)), stuck, model=model)[0] == "broker_unreachable"


@pytest.mark.parametrize(
    "cause", ["transaction_timed_out", "fenced_by_new_instance", "transactional_id_expired", "unresolved_sequence"]
)
def test_an_abort_after_a_fatal_error_has_the_errors_cause(cause):
    abort = found("abort_after_fatal_error", 60, 61, "orders")
    assert of(found(cause, 0, 58, "orders"), abort) == (cause, [])
    assert of(found(cause, 0, 58, "others"), abort) == (None, [])


def test_an_incident_of_yesterday_did_not_cause_the_error_of_today():
    yesterday = found("transaction_timed_out", -86_400, -86_340, "orders")
    assert of(yesterday, found("abort_after_fatal_error", 0, 1, "orders")) == (None, [])


def test_a_client_that_stood_still_learns_late_of_the_end_of_its_epoch():
    whose = {"producer_id": 7, "producer_epoch": 3}
    timed_out = found("transaction_timed_out", 0, 60, "orders", **whose)
    late = found("abort_after_fatal_error", 7_200, 7_201, "orders", **whose)
    assert of(timed_out, late)[0] == "transaction_timed_out"
    assert of(found("transaction_timed_out", 0, 60, "orders", producer_id=7, producer_epoch=1), late) == (None, [])


def test_what_is_proved_comes_before_a_guess():
    guess = found("fenced_by_new_instance", 0, 60, "orders", Verdict.possible)
    sure = found("unresolved_sequence", 0, 60, "orders")
    assert of(guess, sure, found("abort_after_fatal_error", 60, 61, "orders"))[0] == "unresolved_sequence"


def test_a_stuck_transaction_makes_its_owner_ask_again_and_again():
    storm = found("concurrent_transactions_storm", 10, 60, "orders")
    assert of(found("stuck_prepare", 0, 60, "orders"), storm)[0] == "stuck_prepare"
    assert of(found("stuck_prepare", 0, 60, "others"), storm) == (None, [])


def test_an_unstable_id_left_the_transaction_open_that_blocks_readers():
    subjects = (Subject("job-1"), Subject("job-2"))
    unstable = found("unstable_transactional_id", subjects=subjects)
    opened = found("open_transaction", name="job-1", topic="orders", partition=0)
    blocked = found("read_committed_blocked", name="job-1", topic="orders", partition=0)
    assert of(unstable, opened, blocked) == ("open_transaction", [])
    assert of(unstable, opened) == ("unstable_transactional_id", [])


def test_findings_without_times_have_causes_only_by_their_subject():
    bare = Finding("abort_after_fatal_error", Verdict.proved, Severity.warning, "", "", transactional_id="orders")
    assert of(found("transaction_timed_out", 0, 60, "orders"), bare) == (None, [])


def outage_of(seconds):
    return [
        line(f"broker-{number}/server.log", f"10:{at // 60:02d}:{at % 60:02d}", Kind.connection_failed, node=3)
        for number in (1, 2)
        for at in range(0, seconds, 2)
    ]


def test_a_broker_goes_and_the_story_ends_with_an_abort_in_the_fatal_state():
    """Broker down, the coordinator times the transaction out, the commit is refused, the abort in the fatal state."""
    client = Client("orders", path="app.log").start("09:59:30")
    client.threw("10:01:35", "commitTransaction", FENCED)
    client.threw("10:01:36", "abortTransaction", FENCED, wrapped=ERROR_STATE)
    rollback = line("broker-1/server.log", "10:01:10", Kind.timeout_rollback, transactional_id="orders")
    config = settings("producer.properties", "producer", {"transactional.id": "orders"})
    sources = [source(f"broker-{number}/server.log", broker_id=number) for number in (1, 2)]
    judged = judge(by_logs(facts([*outage_of(90), *client.said, rollback], sources, [config])))
    rules = [finding.rule for finding in judged.findings]
    by_rule = {finding.rule: number for number, finding in enumerate(judged.findings)}
    assert sorted(set(rules)) == ["abort_after_fatal_error", "broker_unreachable", "transaction_timed_out"]
    abort, timed_out = by_rule["abort_after_fatal_error"], by_rule["transaction_timed_out"]
    assert judged.causes[abort].primary == timed_out
    assert judged.causes[timed_out].primary == by_rule["broker_unreachable"]
    assert judged.causes[by_rule["broker_unreachable"]].primary is None


def test_transactions_that_timed_out_long_before_an_outage_are_not_its_effect(classic):
    """One of two at most lies in the outage: then it is not the cause of the finding about both."""
    for _ in range(3):
        classic.init("orders")
        classic.begin("orders", "orders-0")
        classic.time_out("orders")
        classic.wait(30 * MINUTE)
    begin = START + 3 * SECOND
    lines = [
        line(f"broker-{number}/server.log", begin + 2_000 * n, Kind.connection_failed, node=3)
        for number in (1, 2)
        for n in range(40)
    ]
    judged = judge(beside(classic, lines))
    (timed_out,) = (n for n, finding in enumerate(judged.findings) if finding.rule == "transaction_timed_out")
    assert judged.causes[timed_out].primary is None


def test_only_limits_what_is_told_and_causes_stay_in_step():
    client = Client("orders").start("10:00:00").threw("10:00:05", "commitTransaction", FENCED)
    client.threw("10:00:06", "abortTransaction", FENCED, wrapped=ERROR_STATE)
    model = by_logs([*client.said, line("broker-1/server.log", "10:00:04", Kind.timeout_rollback,
                                        transactional_id="orders")])  # fmt: skip
    judged = judge(model, frozenset({"abort_after_fatal_error"}))
    assert [finding.rule for finding in judged.findings] == ["abort_after_fatal_error"]
    assert [told.primary for told in judged.causes] == [None]


def test_rules_that_need_logs_say_so_once_each_where_there_are_none(classic):
    classic.init("orders")
    missing = {entry.rule: entry.missing for entry in judge(classic.model()).not_checkable}
    assert missing["broker_unreachable"] == "logs of clients or brokers"
    assert missing["unresolved_sequence"] == "logs of clients"
    logs = [line("app.log", "10:00:00", Kind.rebalance), line("broker/server.log", "10:00:00", Kind.isr_shrunk)]
    decided_by_logs = {name for name, rule in RULES.items() if rule.decided_by}
    assert not {entry.rule for entry in judge(by_logs(logs)).not_checkable} & decided_by_logs


def test_at_most_two_guesses_about_one_id_are_told():
    client = Client("orders").start("10:00:00").say("10:00:40", Kind.fenced, error="_FENCED", detail=KAFKA_EXCEPTION)
    client.say("10:01:40", Kind.await_timeout, api="InitProducerId", number=60_000)
    for number in range(30):
        client.say(milliseconds("10:02:00") + 200 * number, Kind.request_enqueued, api="InitProducerId")
    guesses = [f for f in judge(by_logs(client.said)).findings if f.verdict is Verdict.possible and f.transactional_id]
    assert len(guesses) == 2


def crash(since, until, *nodes, own_log="HARD_STOP"):
    return found("broker_unreachable", since, until, nodes=nodes or (1,), facts={"own_log": own_log})


def test_the_end_of_a_log_that_a_crash_took_and_what_is_refused_behind_it_are_one_chain():
    lost = found("atomicity_violation", -2, -1, "orders", topic="meters", partition=0)
    refused = found("sequence_gap", 12, 13, "orders")
    assert of(crash(0, 10), lost) == ("broker_unreachable", [])
    assert of(crash(0, 10), refused) == ("broker_unreachable", [])


@pytest.mark.parametrize(
    ("cause", "decided"),
    [
        (crash(0, 10, own_log="GOES_ON"), -1),
        (crash(0, 10, own_log="STOPS"), -1),
        (crash(0, 10), -120),
        (crash(0, 10), 30),
    ],
    ids=["the network was cut", "nothing tells how it stopped", "long on disk", "decided afterwards"],
)
def test_a_broker_that_lost_nothing_of_its_log_took_no_marker(cause, decided):
    lost = found("atomicity_violation", decided - 1, decided, "orders", topic="meters", partition=0)
    assert of(cause, lost) == (None, [])


def test_the_crash_of_a_broker_that_did_not_lead_took_no_end_of_the_leaders_log():
    leads = line("broker-1/server.log", "11:00:00", Kind.leader_changed, topic="meters", partition=0, node=2)
    model = by_logs(facts([leads]))
    lost = found("atomicity_violation", -2, -1, "orders", topic="meters", partition=0)
    assert of(crash(0, 10, 2), lost, model=model) == ("broker_unreachable", [])
    assert of(crash(0, 10, 1), lost, model=model) == (None, [])


def away(since, until):
    return Finding("broker_unreachable", Verdict.likely, Severity.warning, "t", "s", since=since, until=until)


@pytest.mark.parametrize(
    ("outages", "expected"),
    [
        ([(0, 1), (2, 2)], ("broker_unreachable", ["broker_unreachable"])),
        ([(0, 0), (1, 1), (2, 2)], ("broker_unreachable", ["broker_unreachable"] * 2)),
        ([(1, 1)], (None, [])),
    ],
    ids=["two in one, one in another", "one in each", "one of three"],
)
def test_each_outage_that_took_some_of_many_is_told(classic, outages, expected):
    """Three transactions of one id that timed out, ten minutes apart; outages go from one to another."""
    begun = []
    classic.init("orders")
    for _ in range(3):
        begun.append(classic.clock)
        classic.begin("orders", "orders-0")
        classic.time_out("orders")
        classic.wait(10 * MINUTE)
        classic.init("orders")
    (effect,) = classic.tell().of("transaction_timed_out")
    causing = [away(begun[first], begun[last] + SECOND) for first, last in outages]
    assert of(*causing, effect, model=classic.model()) == expected
