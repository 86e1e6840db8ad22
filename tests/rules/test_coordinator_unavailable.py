"""coordinator_unavailable: what brokers prove, what clients make likely, and who only waits for markers."""

from kafkatx.terms.events import EventKind as Kind
from kafkatx.terms.events import Level
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, TIMED_OUT, facts, line, milliseconds, source
from tests.rules.cluster import HOUR, MINUTE, SECOND, START, Cluster
from tests.rules.log_told import Client, beside, by_logs, findings, only, rule

check = rule("coordinator_unavailable")

BROKER = "broker-1/server.log"
NOT_AVAILABLE = f"{ERRORS}CoordinatorNotAvailableException"


def load(begin, end, partition=5, path=BROKER, epoch=3):
    return [
        line(path, begin, Kind.coordinator_elected, partition=partition, other_epoch=epoch),
        line(path, begin, Kind.coordinator_loading, partition=partition, other_epoch=epoch),
        line(path, end, Kind.coordinator_loaded, partition=partition, number=milliseconds(end) - milliseconds(begin)),
    ]


def refused(*times, name="orders-1"):
    return [line(BROKER, at, Kind.state_append_failed, transactional_id=name, error=NOT_AVAILABLE) for at in times]


def test_a_load_of_a_minute_and_a_half_is_proved_and_an_error():
    found = only(check, by_logs(load("10:00:00", "10:01:30")))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.error)
    assert (found.topic, found.partition) == (TRANSACTION_STATE, 5)
    assert (found.since, found.until) == (milliseconds("10:00:00"), milliseconds("10:01:30"))
    assert {remedy.config for remedy in found.remedies} == {"max.block.ms"}
    assert found.title == "unavailable for 90 s, then back"
    assert found.who == "coordinator of __transaction_state-5"


def test_a_failover_of_four_seconds_is_no_harm():
    found = only(check, by_logs(load("10:00:00", "10:00:04")))
    assert found.severity is Severity.info
    assert [remedy.text.partition(":")[0] for remedy in found.remedies] == ["Nothing to do for the coordinator"]


def test_loads_at_a_start_are_nothing():
    lines = [entry for partition in range(50) for entry in load("10:00:00", "10:00:00.400", partition)]
    assert not findings(check, by_logs(lines))


def test_releases_that_do_not_tell_the_end_of_a_load_are_not_taken_at_their_silence():
    """To 2.4 an empty partition is loaded without a word."""
    lines = [
        line(BROKER, "10:00:00", Kind.coordinator_loading, partition=1),
        line(BROKER, "10:30:00", Kind.isr_changed, detail="1,2"),
    ]
    assert not findings(check, by_logs(lines))


def test_a_load_whose_end_no_line_tells_is_likely_and_nothing_where_the_coordinator_is_seen_at_work():
    """The line of the end may be what a log lost."""
    begun = load("10:00:00", "10:00:01")[1:2]
    later = line(BROKER, "10:00:30", Kind.isr_changed, detail="1,2")
    given = {"transactional_id": "orders-1", "producer_id": 7, "producer_epoch": 0}
    assert only(check, by_logs([*begun, later])).verdict is Verdict.likely
    assert not findings(
        check, by_logs([*begun, line(BROKER, "10:00:20", Kind.initialized, partition=5, **given), later])
    )
    elsewhere = line(BROKER, "10:00:20", Kind.initialized, partition=4, **given)
    assert only(check, by_logs([*begun, elsewhere, later])).verdict is Verdict.likely


def test_rows_that_could_not_be_written_are_counted_until_one_was():
    lines = refused("10:00:00", "10:00:20", "10:00:40")
    lines.append(line(BROKER, "10:00:41", Kind.timeout_rollback, transactional_id="orders-1"))
    found = only(check, by_logs(lines))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.warning)
    assert (found.since, found.until) == (milliseconds("10:00:00"), milliseconds("10:00:41"))
    assert "orders-1" in found.summary
    assert "at least" not in found.summary


def test_without_an_end_it_lasted_at_least_so_long():
    found = only(check, by_logs(refused("10:00:00", "10:00:20")))
    assert found.until == milliseconds("10:00:20")
    assert "from 10:00:00.000 until at least 10:00:20.000 (20 s)" in found.summary
    assert "has a leader" in found.remedies[0].text


def test_a_refused_append_of_data_is_not_the_coordinators():
    lines = [
        line(BROKER, "10:00:00", Kind.append_refused, topic="orders", partition=0, error="NotEnoughReplicasException")
    ]
    assert not findings(check, by_logs(lines))
    lines = [line(BROKER, "10:00:00", Kind.append_refused, topic=TRANSACTION_STATE, partition=4,
                  error="NotEnoughReplicasException")]  # fmt: skip
    assert only(check, by_logs(lines)).partition == 4


def test_a_coordinator_that_only_moved_is_not_missing():
    lines = [line(BROKER, "10:00:00", Kind.state_append_failed, transactional_id="a", error="NOT_COORDINATOR")]
    assert not findings(check, by_logs(lines))


def test_the_loss_of_the_old_leader_begins_it():
    lines = load("09:00:00", "09:00:00.100", path="broker-2/server.log")
    lines += [line(BROKER, f"10:00:{s:02d}", Kind.connection_failed, node=2) for s in range(0, 12, 2)]
    lines += load("10:00:14", "10:00:15")
    sources = [source(BROKER, broker_id=1), source("broker-2/server.log", broker_id=2)]
    found = only(check, by_logs(facts(lines, sources)))
    assert (found.since, found.until) == (milliseconds("10:00:00"), milliseconds("10:00:15"))
    assert found.severity is Severity.warning


def moved(*loads):
    """A partition that moved from broker to broker, and broker 2 away from 10:00:00 to 10:00:10."""
    lines = [line(BROKER, f"10:00:{s:02d}", Kind.connection_failed, node=2) for s in range(0, 12, 2)]
    for path, at, epoch in loads:
        lines += load(at, f"{at}.050", path=path, epoch=epoch)
    return by_logs(facts(lines, [source(BROKER, broker_id=1), source("broker-2/server.log", broker_id=2)]))


def test_a_leader_that_came_back_before_it_led_was_not_lost_then():
    """A rolling restart: broker 2 restarts, gets the partition, and gives it away when all is stopped."""
    second = ("broker-2/server.log", "10:00:20", 4)
    assert not findings(check, moved(("broker-1/server.log", "09:00:00", 3), second, (BROKER, "10:00:45", 5)))
    assert findings(check, moved(("broker-2/server.log", "09:00:00", 3), (BROKER, "10:00:45", 5)))


def test_a_leader_that_loads_again_in_its_old_epoch_was_not_elected_again():
    """What a broker does at its start that the others still miss: it knows of no later epoch."""
    first, again = ("broker-2/server.log", "09:00:00", 3), ("broker-2/server.log", "10:00:09", 3)
    found = only(check, moved(first, again, (BROKER, "10:00:14", 4)))
    assert (found.since, found.until) == (milliseconds("10:00:00"), milliseconds("10:00:14.050"))


def test_clients_that_look_it_up_over_and_over_make_it_likely():
    client = Client().start("09:59:00")
    for second in range(30):
        client.say(f"10:00:{second:02d}", Kind.coordinator_found, node=1, api="transaction", detail="10.0.0.1:9092")
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.warning)
    assert found.steps[0].because == "30 answers to FindCoordinator"
    assert "was probably unavailable" in found.summary
    assert not any(other.refuted for other in found.considered)


def test_lookups_after_restarts_are_ordinary():
    client = Client().start("09:59:00")
    for minute in range(30):
        client.say(f"10:{minute:02d}:00", Kind.coordinator_found, node=1, api="transaction", detail="10.0.0.1:9092")
    assert not findings(check, by_logs(client.said))


def test_lookups_of_a_groups_coordinator_are_not_counted():
    client = Client().start("09:59:00")
    for second in range(30):
        client.say(f"10:00:{second:02d}", Kind.coordinator_found, node=1, api="group", detail="10.0.0.1:9092")
    assert not findings(check, by_logs(client.said))


def waits(at="10:01:00", thrown=TIMED_OUT):
    return Client().say("10:00:00", Kind.init_called).say(
        at, Kind.await_timeout, api="InitProducerId", number=60_000, thrown=thrown
    )  # fmt: skip


def test_init_that_waits_in_vain_is_only_possible():
    found = only(check, by_logs(waits().said))
    assert (found.verdict, found.transactional_id) == (Verdict.possible, None)
    assert "orders-1" in found.summary
    assert [(other.rule, other.refuted) for other in found.considered] == [("stuck_prepare", False)]
    assert found.who == "transaction coordinator of orders-1"
    assert "possibly unavailable" in found.summary


def test_a_commit_that_waits_in_vain_is_another_rules():
    client = Client().start("10:00:00").say("10:01:00", Kind.await_timeout, api="EndTxn(true)", number=60_000)
    assert not findings(check, by_logs(client.said))


def test_an_id_in_prepare_waits_for_its_markers_not_for_its_coordinator(classic):
    classic.init("orders-1")
    classic.ongoing("orders-1", "orders-0")
    classic.prepare("orders-1", True)
    classic.wait(HOUR)
    client = Client().say(START + 10 * SECOND, Kind.init_called)
    client.say(START + 70 * SECOND, Kind.await_timeout, api="InitProducerId", number=MINUTE)
    assert not findings(check, beside(classic, client.said))


def test_a_wait_within_a_known_absence_is_told_with_it():
    lines = [*refused("10:00:00", "10:00:30", "10:00:58"), *waits().said]
    found = only(check, by_logs(lines))
    assert found.verdict is Verdict.proved
    assert any("initTransactions gave up" in step.text for step in found.steps)


def test_a_cut_log_tells_less():
    lines = refused(*(f"10:00:{second:02d}" for second in range(0, 50, 5)))
    whole = only(check, by_logs(lines))
    for end in range(1, len(lines)):
        found = only(check, by_logs(lines[:end]))
        assert found.until is not None
        assert whole.until is not None
        assert found.until <= whole.until
        assert found.severity <= whole.severity


def test_an_error_without_a_time_names_the_coordinator():
    said = {"error": "COORDINATOR_NOT_AVAILABLE", "detail": "Coordinator not available", "level": Level.error}
    told = [line("a.log", None, Kind.failure, api="initTransactions", **said)]
    found = only(rule("coordinator_unavailable"), by_logs(told))
    assert (found.verdict, found.transactional_id) == (Verdict.likely, None)
    assert not findings(rule("coordinator_unavailable"), by_logs([line("a.log", None, Kind.failure,
                            api="poll", **said)]))  # fmt: skip


def test_one_answer_that_a_client_only_warns_of_is_no_absence():
    error = f"{ERRORS}CoordinatorLoadInProgressException"
    warned = line("tm.log", "10:00:00", Kind.failure, error=error, level=Level.warn)
    assert not findings(check, by_logs([warned]))
    assert findings(check, by_logs([warned, line("tm.log", "10:00:10", Kind.failure, error=error)]))


def test_expired_ids_that_can_not_be_removed_tell_that_the_log_takes_no_writes():
    told = [line(BROKER, "10:00:00", Kind.expiry_failed, transactional_id="old-1", error="NOT_ENOUGH_REPLICAS")]
    found = only(check, by_logs(told))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.warning)
    assert "(0 ms)" not in found.summary
    moved = [line(BROKER, "10:00:00", Kind.expiry_failed, transactional_id="old-1", error="NOT_COORDINATOR")]
    assert not findings(check, by_logs(moved))


def test_a_partition_that_could_not_be_loaded_is_likely():
    told = [
        line(BROKER, "10:00:00", Kind.coordinator_load_failed, topic=TRANSACTION_STATE, partition=33,
             error="java.lang.IllegalStateException")
    ]  # fmt: skip
    found = only(check, by_logs(told))
    assert (found.verdict, found.topic, found.partition) == (Verdict.likely, TRANSACTION_STATE, 33)


def test_partitions_that_were_away_at_the_same_time_are_all_named_and_none_of_them_alone():
    """The first and the last of three have other numbers than the one in between: no number may win."""
    lines = [*load("10:00:00", "10:00:08", 0), *load("10:00:01", "10:00:05", 1), *load("10:00:01", "10:00:06", 3)]
    found = only(check, by_logs(lines))
    assert (found.topic, found.partition) == (TRANSACTION_STATE, None)
    assert found.facts["partitions"]["partitions"] == [0, 1, 3]
    assert found.who == "coordinators of __transaction_state-0, -1 and -3"
    assert "__transaction_state-0, -1 and -3 were unavailable" in found.summary


def appends_refused(*times, partition=2):
    text = {"topic": TRANSACTION_STATE, "partition": partition, "error": "NotEnoughReplicasException"}
    return [line(BROKER, at, Kind.append_refused, **text) for at in times]


def test_what_could_not_write_is_not_said_of_what_was_only_loaded():
    """Different partitions, one time: the proof of the one is none of the other."""
    lines = [*load("10:00:00", "10:00:12", 1), *appends_refused("10:00:05", "10:00:20")]
    told = {found.partition: found for found in findings(check, by_logs(lines))}
    assert set(told) == {1, 2}
    assert "could not write" not in told[1].summary
    assert "could not write" in told[2].summary


def test_a_loaded_partition_is_not_said_to_serve_while_appends_to_another_one_are_refused():
    lines = [*load("10:00:00", "10:00:08", 1), *appends_refused("10:00:15", "10:00:40")]
    found = next(one for one in findings(check, by_logs(lines)) if one.partition == 1)
    assert "served" not in " ".join([*(step.text for step in found.steps), *(one.text for one in found.remedies)])
    open_one = next(one for one in found.considered if not one.refuted)
    assert "10:00:40.000" in open_one.because
    assert "metadata log" in (open_one.decided_by or "")
    calm = only(check, by_logs(load("10:00:00", "10:00:08", 1)))
    assert all(one.refuted for one in calm.considered)


def test_what_was_decided_before_the_first_refused_write_waited_too(tmp_path):
    """A leader counts followers as in sync until they lag: nothing is refused yet, and nothing gets through."""
    cluster = Cluster(tmp_path)
    for name in ("orders-1", "orders-2"):
        cluster.init(name)
    cluster.begin("orders-1", "orders-0")
    cluster.prepare("orders-1", True)
    decided = cluster.clock
    cluster.wait(16 * SECOND)
    lines = [line(BROKER, cluster.clock + after, Kind.state_append_failed, transactional_id="orders-2",
                  error=NOT_AVAILABLE) for after in (0, 20 * SECOND)]  # fmt: skip
    cluster.wait(60 * SECOND)
    cluster.markers("orders-1", "orders-0")
    cluster.complete("orders-1")
    cluster.run("orders-2", "orders-0")
    found = only(check, beside(cluster, lines))
    assert found.facts["held"]["names"] == ["orders-1"]
    assert found.since <= decided
    assert "Transactions of orders-1, decided at" in found.summary
    measured = next(one for one in found.remedies if one.config == "max.block.ms")
    assert "1 min 16 s" in measured.derived_from or "76" in measured.derived_from
