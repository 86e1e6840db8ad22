"""transactional_id_expired: P14, and producer ids that change for other reasons."""

import pytest

from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, facts, line, settings
from tests.rules.cluster import DAY, HOUR, LAST_EPOCH, MINUTE, SECOND, Cluster, replace_epoch
from tests.rules.log_told import Client, beside, by_logs, only, rule

RULE = "transactional_id_expired"
check = rule(RULE)
STATE = "__transaction_state-0"


def expired(cluster: Cluster, idle_ms: int, back_ms: int = 0) -> None:
    """An id that is forgotten after an idle time, and comes back later still."""
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0")
    cluster.wait(idle_ms)
    cluster.expire("orders-1")
    cluster.wait(back_ms)
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0")


def test_a_tombstone_after_seven_days_is_proved(either):
    expired(either, 7 * DAY + 20 * MINUTE, 14 * HOUR)
    told = either.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.proved, Severity.warning)
    assert (finding.transactional_id, finding.producer_id) == ("orders-1", 7000)
    assert "7001 instead of 7000" in finding.summary
    assert told.rules == {RULE}


@pytest.mark.parametrize("idle", [20_000, DAY, 7 * DAY - MINUTE, 8 * DAY, 30 * DAY])
def test_a_tombstone_after_another_time_may_be_a_deletion_by_hand(either, idle):
    expired(either, idle)
    finding = either.tell().only(RULE)
    assert finding.verdict is Verdict.likely
    assert any("by hand" in considered.rule and not considered.refuted for considered in finding.considered)
    assert "probably expired" in finding.summary


def test_another_producer_id_after_an_idle_week_is_likely_even_without_the_tombstone(either):
    expired(either, 7 * DAY + 20 * MINUTE, DAY)
    log = either.log(STATE)
    tombstone = next(batch for batch in log.batches if batch.base_offset == 4)
    log.keep(lambda batch: batch is not tombstone)
    log.first_dirty = 5
    finding = either.tell().only(RULE)
    assert finding.verdict is Verdict.likely
    assert "8 d" in finding.summary


def test_the_same_producer_id_after_the_gap_refutes_it(either):
    either.init("orders-1")
    either.run("orders-1", "orders-0")
    either.wait(9 * DAY)
    either.init("orders-1")
    either.run("orders-1", "orders-0")
    assert not either.tell().rules


def test_an_exhausted_epoch_after_an_idle_week_is_none(classic):
    classic.init("orders-1")
    replace_epoch(classic, "orders-1", LAST_EPOCH)
    classic.run("orders-1", "orders-0")
    classic.wait(9 * DAY)
    classic.init("orders-1")
    assert classic.tell().rules == {"producer_epoch_exhausted"}


def test_one_shot_ids_that_never_come_back_are_quiet(either):
    for number in range(5):
        either.init(f"export-{number}")
        either.run(f"export-{number}", "orders-0")
    either.wait(7 * DAY + MINUTE)
    for number in range(5):
        either.expire(f"export-{number}")
    either.beat()
    assert not either.tell().rules


def test_a_tombstone_of_an_open_transaction_is_no_expiry(either):
    """Only Empty and Complete* expire; such a row is wrong in itself."""
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.wait(7 * DAY + MINUTE)
    either.expire("orders-1")
    either.init("orders-1")
    told = either.tell()
    assert not told.of(RULE)
    assert told.of("inconsistent_transaction_state")


def test_a_tombstone_whose_row_before_is_missing_proves_nothing(either):
    expired(either, 7 * DAY + 20 * MINUTE)
    either.log(STATE).keep(lambda batch: batch.base_offset >= 4)
    assert not either.tell().of(RULE)


def test_the_proposal_covers_the_whole_idle_time_and_not_only_the_time_to_the_tombstone(either):
    expired(either, 7 * DAY + 20 * MINUTE, 9 * DAY)
    remedy, _ = either.tell().only(RULE).remedies
    assert (remedy.config, remedy.current) == ("transactional.id.expiration.ms", str(7 * DAY))
    assert remedy.proposed == str(21 * DAY)
    assert "16 d" in str(remedy.derived_from)


def test_a_gap_of_a_good_week_makes_two_weeks(either):
    expired(either, 7 * DAY + 20 * MINUTE, 17 * HOUR)
    remedy, _ = either.tell().only(RULE).remedies
    assert remedy.proposed == "1209600000"


def test_no_number_is_proposed_beyond_what_the_setting_can_hold(either):
    expired(either, 7 * DAY + 20 * MINUTE, 40 * DAY)
    remedy, _ = either.tell().only(RULE).remedies
    assert remedy.proposed is None
    assert "now and then" in remedy.text


def test_an_unknown_setting_is_not_named_as_current(either):
    expired(either, DAY)
    remedy, _ = either.tell().only(RULE).remedies
    assert remedy.current is None


def test_the_error_alone_makes_it_likely():
    told = [line("a.log", None, EventKind.failure, error=f"{ERRORS}InvalidPidMappingException", detail="not assigned")]
    found = only(check, by_logs(told))
    assert (found.verdict, found.transactional_id) == (Verdict.likely, None)
    assert "had probably expired" in found.summary


def test_a_client_at_work_before_speaks_against_it():
    at_work = line("a.log", "09:59:00", EventKind.begin_called)
    refused = line("a.log", "10:00:00", EventKind.failure, error=f"{ERRORS}InvalidPidMappingException", detail="no")
    assert only(check, by_logs([at_work, refused])).verdict is Verdict.possible


def came_back(tmp_path, *, old_log: bool = True, made_after: bool = True):
    """An id that expired and came back with a producer of its own log; the log of the old one is there as well."""
    cluster = Cluster(tmp_path)
    cluster.init("orders-1")
    old = Client().start(cluster.clock, cluster.ids["orders-1"].producer_id)
    cluster.run("orders-1", "orders-0")
    used = cluster.clock
    cluster.wait(7 * DAY + MINUTE)
    cluster.expire("orders-1")
    cluster.wait(MINUTE)
    started = cluster.clock
    cluster.init("orders-1")
    new = Client(path="new.log")
    at = started if made_after else used - SECOND
    new.say(at, EventKind.client_started, detail="transactional producer")
    new.given(cluster.clock, cluster.ids["orders-1"].producer_id)
    lines = [*(old.said if old_log else ()), *new.said]
    return only(rule("transactional_id_expired"), beside(cluster, lines))


def test_a_producer_that_was_made_behind_the_expiry_lost_nothing(tmp_path):
    """Its log and that of the producer before it are there, and neither was told of an unknown id."""
    found = came_back(tmp_path)
    assert found.severity is Severity.info
    assert any(one.text.startswith("Nothing to do for orders-1") for one in found.remedies)
    assert not any("Look into the log" in one.text for one in found.remedies)


@pytest.mark.parametrize("how", [{"old_log": False}, {"made_after": False}], ids=["no old log", "made before"])
def test_where_a_producer_may_have_been_told_its_log_is_to_be_read(tmp_path, how):
    found = came_back(tmp_path, **how)
    assert found.severity is Severity.warning
    assert any("Look into the log" in one.text for one in found.remedies)


def refused(tmp_path, *, after_ms: int, blocks=()):
    """An id that expired and has not come back; its producer was refused so long after the tombstone."""
    cluster = Cluster(tmp_path)
    cluster.init("orders-1")
    client = Client().start(cluster.clock, cluster.ids["orders-1"].producer_id)
    cluster.run("orders-1", "orders-0")
    cluster.wait(7 * DAY + MINUTE)
    cluster.expire("orders-1")
    client.threw(cluster.clock + after_ms, "send", f"{ERRORS}InvalidPidMappingException")
    return only(check, beside(cluster, facts(client.said, blocks=list(blocks))))


def test_a_tombstone_proves_what_a_refused_producer_was_told_though_the_id_has_not_come_back(tmp_path):
    found = refused(tmp_path, after_ms=HOUR)
    assert found.verdict is Verdict.proved
    assert "It came back" not in found.summary
    assert [one.text for one in found.steps if "tombstone" in one.text]
    assert found.remedies[0].text.startswith("Close the producer and make a new one")
    assert found.remedies[-1].proposed == str(14 * DAY)


def test_a_refusal_before_the_tombstone_was_not_its_doing(tmp_path):
    assert refused(tmp_path, after_ms=-HOUR).verdict is not Verdict.proved


def test_a_setting_that_somebody_says_is_not_taken_for_the_default(tmp_path):
    """An id that expired as its brokers' setting says: what is proposed begins at that setting."""
    cluster = Cluster(tmp_path)
    expired(cluster, 20 * SECOND, MINUTE)
    said = settings("server.properties", "broker", {"broker.id": "1", "transactional.id.expiration.ms": "15000"})
    found = only(check, beside(cluster, facts([], blocks=[said])))
    assert found.verdict is Verdict.proved
    assert [(one.current, one.proposed) for one in found.remedies if one.config] == [("15000", str(7 * DAY))]
