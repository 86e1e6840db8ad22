"""fenced_by_new_instance by logs alone: two living instances, restarts, timeouts, and epochs in brokers' lines."""

import pytest

from kafkatx.terms.events import EventKind as Kind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import FENCED, INVALID_EPOCH, facts, line, settings, source
from tests.rules.cluster import MINUTE, SECOND, START
from tests.rules.log_told import Client, beside, by_logs, findings, only, rule

check, timed_out = rule("fenced_by_new_instance"), rule("transaction_timed_out")

BROKER = "broker-1/server.log"
CONFIG = settings("producer.properties", "producer", {"transactional.id": "orders-1", "acks": "all"})


def old(refused="10:00:10", call="commitTransaction", exception=FENCED):
    client = Client(path="a.log").start("10:00:00", 7, 0)
    return client.threw(refused, call, exception) if refused else client


def new(at="10:00:05", epoch=2, path="b.log", **columns):
    return Client(path=path, **columns).start(at, 7, epoch)


def granted(at, epoch, producer_id=7, path=BROKER):
    return line(path, at, Kind.initialized, transactional_id="orders-1", producer_id=producer_id,
                producer_epoch=epoch, partition=3)  # fmt: skip


def model(*parts, blocks=(), sources=()):
    lines = [entry for part in parts for entry in (part.said if isinstance(part, Client) else [part])]
    return by_logs(facts(lines, sources, blocks))


@pytest.mark.parametrize("exception", [FENCED, INVALID_EPOCH, "_FENCED", "ProducerFenced"])
def test_two_living_instances_within_the_timeout_prove_it(exception):
    found = only(check, model(old(exception=exception), new(), blocks=[CONFIG]))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.proved, Severity.error, "orders-1")
    assert (found.producer_id, found.producer_epoch) == (7, 0)
    assert [actor.name for actor in found.actors] == ["T1", "T2"]
    assert found.considered[0].because == "the new instance came before any transaction of the old one could time out"


def test_without_the_timeout_it_is_likely():
    assert only(check, model(old(), new())).verdict is Verdict.likely


def test_the_coordinators_own_log_without_a_rollback_proves_it_too():
    lines = [granted("09:59:59", 0), granted("10:20:05", 2), line(BROKER, "10:30:00", Kind.isr_changed, detail="1")]
    found = only(check, model(old("10:20:10"), new("10:20:05"), *lines))
    assert found.verdict is Verdict.proved
    assert "without a rollback" in found.considered[0].because


def test_a_rollback_in_between_is_a_timeout():
    lines = [granted("09:59:59", 0), line(BROKER, "10:00:03", Kind.timeout_rollback, transactional_id="orders-1")]
    assert not findings(check, model(old(), new(), *lines, blocks=[CONFIG]))


def test_a_newcomer_long_after_the_timeout_is_a_guess():
    """The old one may have been timed out long before."""
    found = only(check, model(old("10:30:40"), new("10:30:00"), blocks=[CONFIG]))
    assert found.verdict is Verdict.possible


def test_an_instance_that_failed_before_the_newcomer_began_was_not_its_victim():
    found = only(check, model(old("10:00:04"), new("10:00:05"), blocks=[CONFIG]))
    assert [actor.name for actor in found.actors] == ["T1"]
    assert not findings(check, model(old("10:00:40"), new("10:00:41")))[0].verdict


def test_a_restart_in_one_process_is_no_fence():
    again = new("10:00:10.050", path="a.log")
    assert [actor.name for actor in only(check, model(old("10:00:10"), again, blocks=[CONFIG])).actors] == ["T1"]


def test_an_orderly_restart_is_no_fence():
    closed = old(None).say("10:00:04", Kind.client_closing, number=1)
    assert not findings(check, model(closed, new(epoch=1)))


def test_a_clients_own_bump_is_no_fence():
    client = old(None).say("10:00:04", Kind.init_bump, producer_id=7, producer_epoch=0).given("10:00:05", 7, 1)
    client.threw("10:00:06", "commitTransaction", FENCED)
    assert not [f for f in findings(check, model(client)) if f.verdict > 0]


def test_the_words_of_a_client_alone_are_a_guess():
    """librdkafka, franz-go and aiokafka say `fenced` for a timeout as well."""
    found = only(check, model(old("10:00:40", exception="_FENCED")))
    assert (found.verdict, found.severity) == (Verdict.possible, Severity.warning)
    assert [remedy.config for remedy in found.remedies] == [None]
    assert "coordinator's server.log" in found.remedies[0].text


def test_a_refusal_that_nothing_tells_of_is_one_finding():
    """A fence while nothing speaks for a timeout: the client names a newer producer; the other is left open."""
    told = model(old("10:00:40", exception="_FENCED"))
    assert not findings(timed_out, told)
    (other,) = only(check, told).considered
    assert (other.rule, other.refuted) == ("transaction_timed_out", False)
    assert "server.log around 10:00:40" in str(other.decided_by)


def test_soon_after_its_grant_no_default_timeout_can_have_passed():
    """Half of the default (60 s) leaves room for a shorter one: likely, of a client that was refused at work."""
    at_work = old(None).say("10:00:18", Kind.begin_called).threw("10:00:20", "commitTransaction", FENCED)
    assert only(check, model(at_work)).verdict is Verdict.likely


def test_who_stood_still_before_it_was_refused_may_have_set_a_shorter_timeout():
    found = only(check, model(old("10:00:20")))
    assert found.verdict is Verdict.possible
    assert [(other.rule, other.refuted) for other in found.considered] == [("transaction_timed_out", False)]


def nameless(at, kind=Kind.failure, **columns):
    said = {"error": FENCED, "detail": "fenced"} if kind is Kind.failure else {}
    return line("a.log", at, kind, **said, **columns)


def test_lines_that_name_nobody_are_decided_by_the_time():
    told = model(nameless("10:00:00", Kind.begin_called), nameless("10:00:04"))
    found = only(check, told)
    assert (found.verdict, found.transactional_id, findings(timed_out, told)) == (Verdict.likely, None, [])
    told = model(nameless("10:00:00", Kind.begin_called), nameless("10:01:10"))
    assert (only(timed_out, told).verdict, findings(check, told)) == (Verdict.likely, [])


def test_a_timeout_that_nothing_tells_may_be_some_seconds():
    told = model(nameless("10:00:00", Kind.begin_called), nameless("10:00:10"))
    assert not findings(check, told)
    assert not findings(timed_out, told)


def test_between_half_the_timeout_and_all_of_it_the_time_decides_nothing():
    told = model(nameless("10:00:00", Kind.begin_called), nameless("10:00:45"))
    assert not findings(check, told)
    assert not findings(timed_out, told)


def test_who_was_silent_for_its_timeout_rather_timed_out():
    """Who can have timed out, stood still that long, and shares its id with nobody that is seen."""
    silent = old("10:01:10")
    told = model(silent, blocks=[CONFIG])
    assert not findings(check, told)
    found = only(timed_out, told)
    assert (found.verdict, found.severity) == (Verdict.possible, Severity.warning)
    assert [(other.rule, other.refuted) for other in found.considered] == [("fenced_by_new_instance", False)]
    assert "possibly timed out" in found.summary
    assert "silent for 70 s" in found.summary


def test_a_second_owner_of_the_id_speaks_against_a_timeout():
    second = Client(path="b.log").say("10:00:40", Kind.begin_called).say("10:02:00", Kind.begin_called)
    told = model(old("10:01:10"), second, blocks=[CONFIG])
    assert not findings(timed_out, told)
    assert only(check, told).verdict is Verdict.possible


def test_who_is_refused_before_a_transaction_could_time_out_was_fenced():
    """Whoever fenced it left no log: nobody but its own client tells of it."""
    found = only(check, model(old("10:00:50"), blocks=[CONFIG]))
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.error)
    assert "before its transaction could time out" in found.summary


def test_a_client_that_prints_no_epoch_is_told_apart_by_the_coordinators_lines():
    silent = Client(path="a.log").say("10:00:00", Kind.client_started)
    silent.threw("10:00:10", "commitTransaction", "ProducerFenced")
    found = only(check, model(silent, granted("10:00:00", 0), granted("10:00:09", 2), blocks=[CONFIG]))
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.error)
    assert "a.log" in found.actors[0].what
    earlier = [granted("09:00:00", 0), granted("10:00:09", 2)]
    assert only(check, model(silent, *earlier, blocks=[CONFIG])).verdict is Verdict.possible


def test_two_instances_of_one_client_id_in_one_log_are_told_apart_by_the_newest_grant():
    """Their lines look alike; who was given the newest epoch a moment ago is not the one refused as too old."""
    newcomer = new(path="a.log").threw("10:00:05.100", "commitTransaction", FENCED)
    found = only(check, model(old(None), newcomer, blocks=[CONFIG]))
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.error)
    assert [actor.name for actor in found.actors] == ["T1", "T2"]
    third = granted("10:00:05.050", 4)
    assert [only(check, model(old(None), newcomer, *more, blocks=[CONFIG])).count for more in ([], [third])] == [1, 2]


def test_clients_that_print_no_epoch_are_told_apart_by_their_time():
    first = Client(path="a.log").say("10:00:00", Kind.client_started).threw("10:00:10", "commitTransaction", FENCED)
    second = Client(path="b.log").say("10:00:05", Kind.client_started)
    assert only(check, model(first, second)).verdict is Verdict.likely


def test_epochs_that_rise_by_two_tell_of_an_aborted_transaction():
    release = line(BROKER, "09:00:00", Kind.broker_release, node=1, detail="2.8.2")
    found = only(check, model(release, granted("10:00:00", 0), granted("10:00:20", 2), granted("10:01:00", 3)))
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.info)
    assert "aborted the open transaction of the old one" in found.summary


def test_epochs_that_rise_by_one_are_restarts():
    release = line(BROKER, "09:00:00", Kind.broker_release, node=1, detail="2.8.2")
    lines = [granted(f"10:00:{second:02d}", epoch) for epoch, second in enumerate(range(0, 50, 10))]
    assert not findings(check, model(release, *lines))


def test_epochs_of_transactions_v2_say_nothing():
    release = line(BROKER, "09:00:00", Kind.broker_release, node=1, detail="4.1.0")
    assert not findings(check, model(release, granted("10:00:00", 0), granted("10:00:20", 2)))


def test_a_refused_write_shows_that_the_old_one_was_alive():
    release = line(BROKER, "09:00:00", Kind.broker_release, node=1, detail="2.8.2")
    refused = line(BROKER, "10:00:21", Kind.stale_epoch, producer_id=7, producer_epoch=0, other_epoch=2, topic="orders",
                   partition=0, offset=9)  # fmt: skip
    found = only(check, model(release, granted("10:00:00", 0), granted("10:00:20", 2), refused))
    assert found.severity is Severity.error
    assert found.verdict is Verdict.likely
    assert "an operator who ended the transaction by its id" in {other.rule for other in found.considered}


def test_frameworks_hand_their_ids_on_by_design():
    name = "shop-11f1d1fa-8a1b-4c4e-9d8e-0f0f0f0f0f0f-1"
    names = {"name": name, "client_id": "shop-11f1d1fa-8a1b-4c4e-9d8e-0f0f0f0f0f0f-StreamThread-1-producer"}
    first = Client(path="a.log", **names).start("10:00:00", 7, 0).threw("10:00:10", "commitTransaction", FENCED)
    second = Client(path="b.log", **names).start("10:00:05", 7, 2)
    assert only(check, model(first, second)).severity is Severity.info


def test_rows_and_logs_of_one_fence_are_one_finding(classic):
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    classic.wait(2 * SECOND)
    classic.init("orders-1")
    producer = classic.ids["orders-1"].producer_id
    first = Client(path="a.log").start(START - 5, producer, 0)
    second = Client(path="b.log").start(START + 2 * SECOND + 150, producer, 2)
    first.threw(START + 3 * SECOND, "commitTransaction", FENCED)
    found = only(check, beside(classic, [*first.said, *second.said]))
    assert (found.verdict, found.severity, found.count) == (Verdict.proved, Severity.error, 1)
    assert any(place.source == "a.log" for place in found.places())
    assert any(place.offset is not None for place in found.places())


def test_rows_that_say_timeout_are_not_contradicted_by_two_logs(classic):
    classic.init("orders-1", timeout_ms=MINUTE)
    classic.begin("orders-1", "orders-0")
    classic.time_out("orders-1")
    classic.wait(30 * SECOND)
    classic.init("orders-1")
    producer = classic.ids["orders-1"].producer_id
    first = Client(path="a.log").start(START - 5, producer, 0)
    second = Client(path="b.log").start(classic.clock, producer, 2)
    first.threw(classic.clock + 2 * SECOND, "commitTransaction", FENCED)
    assert not findings(check, beside(classic, [*first.said, *second.said]))


def test_every_cut_of_the_logs_proves_less_or_the_same():
    lines = [*old().said, *new().said]
    for begin in range(len(lines)):
        for end in range(begin, len(lines) + 1):
            told = findings(check, by_logs(facts(lines[begin:end], [source("a.log"), source("b.log")], [CONFIG])))
            both = {entry.path for entry in lines[begin:end]} == {"a.log", "b.log"}
            for found in told:
                assert found.verdict is not Verdict.proved or both
                assert found.verdict is Verdict.possible or len(found.actors) == 1 + both


def test_connects_leader_has_no_transaction_that_could_time_out():
    client = Client("connect-cluster-etl", client_id="etl-configs-leader").start("09:00:00").fatal("10:00:00", FENCED)
    found = only(check, by_logs(client.said))
    assert found.verdict is Verdict.likely
    assert any("committed at once" in str(other.because) for other in found.considered)
