"""shared_producer: two owners in turns, two clients in the request log, rows alone, threads, and what is not it."""

from dataclasses import replace
from pathlib import Path

import pytest

from kafkatx import diagnose
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.rules.registry import judge
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.terms.verdicts import Severity, Verdict
from tests.evidence import FIXTURES
from tests.histories.log_facts import DAY, FENCED, Line, facts, line
from tests.rules.cluster import MINUTE, SECOND, Cluster
from tests.rules.log_told import Client, beside, by_logs, findings, only, rule

check = rule("shared_producer")

ILLEGAL_STATE = "java.lang.IllegalStateException"
STREAMS_ID = "ledger-0f44002f-18c4-47dc-9161-0f0105243615-1"


def in_turns(*owners: str, name: str = "orders-1", refused: bool = True, pause: int = 20) -> list[Line]:
    """Owners (by log) initialise one after the other, two epochs each; the former is refused a second later."""
    said: list[Line] = []
    before = None
    for count, path in enumerate(owners):
        at, epoch = DAY + count * pause * SECOND, 2 * count
        owner = Client(name, path=path).start(at, epoch=epoch)
        if before is not None and refused:
            again = f"ProducerIdAndEpoch(producerId=7, epoch={epoch - 2}) has been fenced by another producer"
            before.threw(at + SECOND, "commitTransaction", FENCED, again)
        said += before.said if before is not None else []
        before = owner
    return sorted(said + (before.said if before is not None else []), key=lambda entry: entry.at)


def test_two_processes_that_fence_each_other_in_turns_are_proved():
    found = only(check, by_logs(in_turns("a.log", "b.log", "a.log", "b.log")))
    assert (found.verdict, found.severity, found.count) == (Verdict.proved, Severity.error, 3)
    assert (found.transactional_id, found.producer_id) == ("orders-1", 7)
    assert [actor.name for actor in found.actors] == ["P1", "P2", "P3", "P4"]
    assert {"a crash loop of one instance", "a rolling deployment"} == {other.rule for other in found.considered}
    assert all(other.refuted for other in found.considered)
    assert found.summary.startswith("2 processes used orders-1 at the same time")


def test_two_producers_of_one_process_are_likely():
    found = only(check, by_logs(in_turns("a.log", "a.log", "a.log", "a.log")))
    assert found.verdict is Verdict.likely
    assert found.summary.startswith("Several producers of one process probably used orders-1")
    assert [other.decided_by is not None for other in found.considered] == [False, True]


def test_many_owners_none_of_which_comes_back_are_likely():
    found = only(check, by_logs(in_turns("a.log", "b.log", "c.log", "d.log")))
    assert found.verdict is Verdict.likely
    assert [other.rule for other in found.considered if not other.refuted] == ["a rolling deployment"]


def test_of_many_turns_the_first_ones_and_the_last_are_told_and_whom_they_name():
    found = only(check, by_logs(in_turns(*"abababababa")))
    assert (found.count, [step.text.split()[0] for step in found.steps]) == (10, ["P2", "P3", "P4", "P6"])
    assert [actor.name for actor in found.actors] == ["P1", "P2", "P3", "P4", "P5", "P6"]


@pytest.mark.parametrize(
    "said",
    [
        in_turns("a.log", "b.log"),
        in_turns("a.log", "b.log", "c.log"),
        in_turns("a.log", "b.log", "a.log", "b.log", refused=False),
        in_turns("a.log", "b.log", "a.log", "b.log", pause=900),
        in_turns("a.log", "b.log", "a.log", "b.log", name=STREAMS_ID),
    ],
    ids=["fenced_by_new_instance", "rolling deployment", "restarts", "hours apart", "Streams moves its tasks"],
)
def test_fewer_later_or_dead_owners_are_not_it(said):
    assert not findings(check, by_logs(said))


def test_a_crash_loop_of_one_process_is_not_it():
    client = Client(path="a.log")
    for count in range(6):
        client.start(f"10:0{count}:00", epoch=2 * count)
    assert not findings(check, by_logs(client.said))


def wrong_state(*threads: str, states: str = "state IN_TRANSACTION to state IN_TRANSACTION") -> Client:
    client = Client().start("10:00:00")
    for second, thread in enumerate(threads, start=10):
        said = f"TransactionalId orders-1: Invalid transition attempted from {states}"
        client.threw(f"10:00:{second}", "beginTransaction", ILLEGAL_STATE, said, thread=thread)
    return client


def test_wrong_states_in_two_threads_of_one_object_are_proved():
    found = only(check, by_logs(wrong_state("worker-1", "worker-2", "worker-1").said))
    assert (found.verdict, found.severity, found.count) == (Verdict.proved, Severity.error, 3)
    assert "worker-1, worker-2" in found.steps[0].text


@pytest.mark.parametrize(
    ("threads", "states"),
    [
        (("main", "main"), "state IN_TRANSACTION to state IN_TRANSACTION"),
        (("main", "kafka-producer-network-thread | producer-orders-1"), "state READY to state COMMITTING_TRANSACTION"),
        (("main", "worker-1"), "state COMMITTING_TRANSACTION to state ABORTING_TRANSACTION"),
        (("main", "worker-1"), "state FATAL_ERROR to state ABORTING_TRANSACTION"),
    ],
    ids=["one thread", "the network thread", "commit_outcome_unknown", "abort_after_fatal_error"],
)
def test_other_wrong_states_are_not_it(threads, states):
    assert not findings(check, by_logs(wrong_state(*threads, states=states).said))


def requests(*askers: tuple[str, str]) -> list:
    return [
        line("broker-1/kafka-request.log", f"10:00:{10 + count}", EventKind.request_seen, api="INIT_PRODUCER_ID",
             level=Level.debug, transactional_id="orders-1", client_id=client, detail=f"{host}:{50_000 + count}")
        for count, (client, host) in enumerate(askers)
    ]  # fmt: skip


def test_two_hosts_in_the_request_log_are_likely():
    a, b = ("producer-orders-1", "10.0.0.1"), ("producer-orders-1", "10.0.0.2")
    found = only(check, by_logs(requests(a, b, b, a, b, a)))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.likely, Severity.error, "orders-1")
    assert [actor.what for actor in found.actors] == [f"client.id {name}, host {host}" for name, host in (a, b)]


def test_one_host_that_asks_again_is_a_restart():
    assert not findings(check, by_logs(requests(*[("producer-orders-1", "10.0.0.1")] * 8)))


def taken_over(cluster: Cluster, times: int, pause: int) -> Cluster:
    """Let an open transaction be taken over `pause` ms after its last record, again and again."""
    cluster.init("orders-1")
    for _ in range(times):
        cluster.begin("orders-1", "orders-0")
        cluster.wait(pause)
        cluster.init("orders-1")
        cluster.wait(SECOND)
    return cluster


def test_on_disk_take_overs_too_soon_for_a_restart_are_likely(classic):
    found = only(check, beside(taken_over(classic, 4, 200), []))
    assert (found.verdict, found.severity, found.count) == (Verdict.likely, Severity.error, 4)


def test_on_disk_slow_take_overs_may_be_a_crash_loop(classic):
    found = only(check, beside(taken_over(classic, 4, 20 * SECOND), []))
    assert (found.verdict, found.severity) == (Verdict.possible, Severity.warning)
    assert not found.considered[0].refuted
    assert not any("alive" in text for text in (found.summary, *(step.text for step in found.steps)))
    assert not any(remedy.config for remedy in found.remedies)


def test_on_disk_slow_take_overs_of_an_owner_whose_log_shows_that_it_lived_are_likely(classic):
    classic.init("orders-1")
    producer_id, epoch = classic.ids["orders-1"].producer_id, 0
    mine = Client().start(classic.clock, producer_id, epoch)
    for _ in range(3):
        classic.begin("orders-1", "orders-0")
        classic.wait(20 * SECOND)
        classic.init("orders-1")
        mine.threw(classic.clock + SECOND, "commitTransaction", FENCED, f"(producerId={producer_id}, epoch={epoch})")
        classic.wait(2 * SECOND)
        classic.begin("orders-1", "orders-0")
        classic.wait(20 * SECOND)
        classic.init("orders-1")
        epoch += 4
        mine.start(classic.clock, producer_id, epoch)
    found = only(check, beside(classic, mine.said))
    assert (found.verdict, found.count) == (Verdict.likely, 6)
    assert any("refused" in step.text for step in found.steps)


@pytest.mark.parametrize(("times", "pause"), [(2, 200), (6, 5 * MINUTE)], ids=["two", "minutes apart"])
def test_on_disk_few_take_overs_are_not_it(tmp_path: Path, times, pause):
    assert not findings(check, beside(taken_over(Cluster(tmp_path), times, pause), []))


def test_restarts_between_transactions_are_not_it(either):
    for _ in range(6):
        either.init("orders-1")
        either.run("orders-1", "orders-0", times=2)
        either.wait(SECOND)
    assert not findings(check, beside(either, []))


def test_a_log_that_shows_the_starts_of_one_process_refutes_the_rows(classic):
    client, epoch = Client(), 0
    client.start(classic.clock, epoch=0)
    classic.init("orders-1")
    for _ in range(4):
        classic.begin("orders-1", "orders-0")
        classic.wait(200)
        classic.init("orders-1")
        epoch += 2
        client.start(classic.clock, producer_id=classic.ids["orders-1"].producer_id, epoch=epoch)
        classic.wait(SECOND)
    assert not findings(check, beside(classic, client.said))


def test_its_fences_are_told_once(classic):
    told = judge(beside(taken_over(classic, 4, 200), facts([])))
    assert [found.rule for found in told.findings if found.transactional_id == "orders-1"] == ["shared_producer"]


def test_grants_and_refusals_in_turns_need_no_names():
    told = [line("a.log", None, EventKind.producer_id_set, producer_id=9, producer_epoch=14)]
    for epoch in (15, 16):
        told.append(line("a.log", None, EventKind.producer_id_set, producer_id=9, producer_epoch=epoch))
        told.append(
            line("a.log", None, EventKind.failure, error=FENCED, detail=f"fenced at {epoch}", thread=f"{epoch}")
        )
    found = only(check, by_logs(told))
    assert (found.verdict, found.producer_id, found.transactional_id) == (Verdict.likely, 9, None)
    assert not findings(check, by_logs(told[:3]))


def in_one_file(*said: tuple[str, str, int], name: str | None = None) -> list[Line]:
    """Lines of processes in one file: the process, `got` or `refused`, and the second of the minute."""
    processes = dict.fromkeys(process for process, _, _ in said)
    return [
        line(
            f"{process}.log",
            DAY + second * SECOND,
            EventKind.init_returned if what == "got" else EventKind.failure,
            transactional_id=name,
            **({} if what == "got" else {"error": FENCED, "thrown": FENCED}),
        )
        for process in processes
        for mine, what, second in said
        if mine == process
    ]


def told_together(lines: list[Line]) -> CaptureModel:
    """The model of a file that several processes wrote."""
    given = facts(lines)
    given.sources = [replace(source, path="app.log") for source in given.sources]
    return by_logs(given)


def test_processes_of_one_text_that_come_back_and_throw_each_other_out_are_likely():
    said = [("a", "got", 1), ("b", "got", 2), ("a", "refused", 3), ("a", "got", 5), ("b", "refused", 6)]
    found = only(check, told_together(in_one_file(*said)))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.likely, Severity.error, None)
    assert "2 processes" in found.title
    told = judge(told_together(in_one_file(*said)))
    assert [one.rule for one in told.findings] == ["shared_producer"]


def test_processes_of_one_text_refused_again_sooner_than_a_timeout_are_likely():
    said = [("a", "refused", 3), ("b", "refused", 6), ("a", "refused", 10), ("b", "refused", 13)]
    found = only(check, told_together(in_one_file(*said, name="ledger-tx")))
    assert (found.transactional_id, found.count) == ("ledger-tx", 4)


@pytest.mark.parametrize(
    "said",
    [
        [("a", "got", 1), ("b", "got", 2), ("a", "refused", 3)],
        [("a", "got", 1), ("b", "got", 2), ("a", "refused", 3), ("c", "got", 5), ("b", "refused", 6)],
        [("a", "refused", 3), ("b", "refused", 63), ("a", "refused", 123)],
        [("a", "refused", 3), ("a", "refused", 6), ("a", "refused", 10)],
    ],
    ids=["one take-over", "a rolling deployment", "as slow as timeouts", "one process"],
)
def test_processes_of_one_text_that_may_be_anything_else_are_not_it(said):
    assert not findings(check, told_together(in_one_file(*said)))


def granted(*given: tuple[float, int], busy: tuple[float, ...] = (), rolled_back: tuple[float, ...] = ()) -> list[Line]:
    """The coordinator's lines about one id: grants (second, epoch), refusals of newcomers, and rollbacks, by time."""
    about = {"transactional_id": "export", "side": Side.broker}
    grants = [
        line("server.log", DAY + int(at * SECOND), EventKind.initialized, producer_id=40, producer_epoch=epoch, **about)
        for at, epoch in given
    ]
    kind = EventKind.concurrent_transactions
    grants += [line("server.log", DAY + int(at * SECOND), kind, api="InitProducerId", **about) for at in busy]
    grants += [line("server.log", DAY + int(at * SECOND), EventKind.timeout_rollback, **about) for at in rolled_back]
    return sorted(grants, key=lambda entry: entry.at)


def of_release(release: str) -> Line:
    """The line in which the coordinator says its release."""
    return line("server.log", DAY - SECOND, EventKind.broker_release, side=Side.broker, detail=release)


EVEN = ((0, 211), (9, 213), (18, 215), (27, 217))


def test_under_transactions_v2_a_commit_and_a_restart_raise_the_epoch_by_two_as_well():
    assert findings(check, by_logs([of_release("3.9.1"), *granted(*EVEN)]))
    assert not findings(check, by_logs([of_release("4.3.1"), *granted(*EVEN)]))
    assert findings(check, by_logs([of_release("4.3.1"), *granted(*EVEN, busy=(8.9, 17.9, 26.9))]))


def test_restarts_of_an_instance_that_was_closed_before_are_not_it():
    client = Client(path="app.log", name="export")
    for second, epoch in EVEN:
        client.start(DAY + second * SECOND, 40, epoch).say(DAY + (second + 8) * SECOND, EventKind.client_closing)
    assert not findings(check, by_logs([*granted(*EVEN), *client.said]))


def test_on_disk_steady_take_overs_may_be_a_process_that_is_started_again_each_time(classic):
    found = only(check, beside(taken_over(classic, 4, 3 * SECOND), []))
    assert (found.verdict, found.severity) == (Verdict.possible, Severity.warning)
    assert "at once" not in found.title
    assert any("one crashes and restarts" in text for text in (found.summary,))


def test_even_take_overs_of_open_transactions_by_the_coordinators_lines_may_be_restarts():
    found = only(check, by_logs(granted((0, 211), (9, 213), (18, 215), (27, 217))))
    assert (found.verdict, found.transactional_id, found.producer_id) == (Verdict.possible, "export", 40)
    assert {other.rule: other.refuted for other in found.considered}["a crash loop of one instance"] is False


def test_take_overs_within_a_second_of_each_other_are_likely():
    found = only(check, by_logs(granted((1, 2210), (1.4, 2212), busy=(0.7, 1.1))))
    assert {other.rule: other.refuted for other in found.considered}["a crash loop of one instance"] is True


@pytest.mark.parametrize(
    "said",
    [
        granted((0, 211), (9, 213), (18, 215)),
        granted((0, 211), (10, 213), (30, 215), (70, 217)),
        granted((0, 211), (9, 212), (18, 213), (27, 214)),
        granted((0, 211), (9, 213), (18, 215), (27, 217), rolled_back=(5, 14, 23)),
        granted((1, 2210), (1.4, 2212)),
    ],
    ids=["few", "growing pauses", "nothing open", "timeouts", "nobody was told to wait"],
)
def test_grants_that_a_restart_or_a_timeout_explains_are_not_it(said):
    assert not findings(check, by_logs(said))


def test_running_instances_with_one_prefix_of_spring_are_one_cause_and_none_is_to_be_stopped():
    found = {one.finding.transactional_id: one for one in diagnose([FIXTURES / "f-spring-prefix"]).findings}
    first, second = found["shop-tx-0"], found["shop-tx-1"]
    assert (first.finding.rule, second.finding.rule) == ("shared_producer", "fenced_by_new_instance")
    assert second.caused_by == first.id
    for one in (first.finding, second.finding):
        assert [(step.config, step.current) for step in one.remedies if step.config] == [
            ("spring.kafka.producer.transaction-id-prefix", "shop-tx-")
        ]
        assert not any(step.text.startswith("Stop ") for step in one.remedies)
