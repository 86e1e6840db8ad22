"""hanging_transaction: data that nobody will end, and above all when not to say so (the operator would abort by
hand).
"""

from pathlib import Path

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.answer import totals
from kafkatx.terms.events import EventKind
from kafkatx.terms.topics import partition_for
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Remedy
from tests.evidence import fixtures
from tests.histories.log_facts import line
from tests.rules.cluster import HOUR, MINUTE, SECOND, TWO_PHASE, Cluster
from tests.rules.log_told import by_logs, only, rule

RULE = "hanging_transaction"
STATE = "__transaction_state-0"


def late_write(cluster: Cluster, name: str = "orders-1") -> int:
    """A batch that arrives behind the ABORT of its transaction; returns its offset."""
    cluster.init(name)
    cluster.run(name, "orders-0")
    cluster.begin(name, "orders-0")
    known = cluster.ids[name]
    cluster.abort(name)
    return cluster.late_data("orders-0", known.producer_id, known.epoch, 3)


def go_on(cluster: Cluster, milliseconds: int = 20 * MINUTE) -> None:
    """Let the evidence go on, in the same partition of `__transaction_state` and in the data partition."""
    cluster.wait(milliseconds)
    cluster.beat()
    cluster.beat(partition="orders-0")


def elsewhere(state_partitions: int, name: str = "orders-1") -> str:
    """An id of another partition of `__transaction_state`."""
    home = partition_for(name, state_partitions)
    return next(other for n in range(100) if partition_for(other := f"beat-{n}", state_partitions) != home)


def test_a_write_behind_the_abort_marker_hangs(classic):
    first = late_write(classic)
    go_on(classic)
    told = classic.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.proved, Severity.error)
    assert (finding.topic, finding.partition, finding.first_offset, finding.last_offset) == (
        "orders",
        0,
        first,
        first + 2,
    )
    assert finding.transactional_id == "orders-1"
    assert told.cause_of("read_committed_blocked") == RULE


def test_a_young_one_is_likely_only(classic):
    late_write(classic)
    go_on(classic, 5 * MINUTE)
    assert classic.tell().only(RULE).verdict is Verdict.likely


def test_the_age_counts_from_the_ids_own_timeout_where_that_is_longer(classic):
    classic.init("orders-1", timeout_ms=HOUR)
    classic.begin("orders-1", "orders-0")
    known = classic.ids["orders-1"]
    classic.abort("orders-1")
    classic.late_data("orders-0", known.producer_id, known.epoch)
    go_on(classic, 50 * MINUTE)
    assert classic.tell().only(RULE).verdict is Verdict.likely


def test_a_partition_that_was_never_registered_hangs(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.data("orders-1", "payments-0")
    either.commit("orders-1")
    go_on(either)
    told = either.tell()
    assert (told.only(RULE).topic, told.only(RULE).verdict) == ("payments", Verdict.proved)


def test_a_partition_that_never_saw_the_producer_takes_a_lower_epoch_and_hangs(either):
    either.init("orders-1")
    either.run("orders-1", "orders-0")
    old = either.ids["orders-1"]
    either.init("orders-1")
    either.late_data("payments-0", old.producer_id, old.epoch)
    either.run("orders-1", "orders-0")
    go_on(either)
    assert either.tell().only(RULE).producer_epoch == old.epoch


def test_an_aborted_transaction_whose_marker_was_skipped_hangs(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0", "payments-0")
    either.end_in("orders-1", False, "orders-0")
    go_on(either)
    either.plain("payments-0")
    assert either.tell().only(RULE).topic == "payments"


def test_a_log_that_ends_before_the_abort_was_complete_may_lack_its_marker_only_in_the_copy(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0", "payments-0")
    either.end_in("orders-1", False, "orders-0")
    go_on(either)
    told = either.tell()
    assert not told.of(RULE)
    assert any("marker may be behind" in entry.missing for entry in told.not_checkable(RULE))


def test_a_producer_id_that_no_partition_of_the_state_knows_hangs_likely(either):
    either.beat()
    either.late_data("orders-0", 9_999, 0)
    go_on(either)
    finding = either.tell().only(RULE)
    assert (finding.verdict, finding.transactional_id, finding.producer_id) == (Verdict.likely, None, 9_999)
    assert not any(is_abort(remedy) for remedy in finding.remedies)
    assert finding.remedies[1].command == "kafka-transactions.sh --bootstrap-server HOST:PORT list"


def test_empty_partitions_of_the_state_know_nobody_either(tmp_path: Path):
    cluster = Cluster(tmp_path, state_partitions=50)
    cluster.beat()
    cluster.late_data("orders-0", 9_999, 0)
    go_on(cluster)
    assert cluster.tell().only(RULE).verdict is Verdict.likely


# Look-alikes.


def test_an_open_transaction_is_none_however_old(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    go_on(either, HOUR)
    assert either.tell().rules == {"open_transaction", "read_committed_blocked", "committed_but_unreadable"}


def test_a_prepared_one_is_none(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.prepare("orders-1", True)
    go_on(either, HOUR)
    told = either.tell()
    assert told.rules == {"stuck_prepare", "read_committed_blocked", "committed_but_unreadable"}
    assert told.cause_of("read_committed_blocked") == "stuck_prepare"


def test_a_committed_one_without_its_marker_is_an_atomicity_violation(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0", "payments-0")
    either.end_in("orders-1", True, "orders-0")
    go_on(either)
    either.beat(partition="payments-0")
    told = either.tell()
    assert "atomicity_violation" in told.rules
    assert not told.of(RULE)


def test_a_two_phase_transaction_may_be_open_for_days(either):
    either.init("sink-1", timeout_ms=TWO_PHASE)
    either.begin("sink-1", "orders-0")
    go_on(either, 72 * HOUR)
    told = either.tell()
    assert "open_transaction" in told.rules
    assert not told.of(RULE)


def test_data_that_the_next_instances_own_marker_will_end_do_not_hang(classic):
    """The id is Ongoing again and lists the partition: the marker to come ends whatever of this producer id is open
    there.
    """
    late_write(classic)
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    go_on(classic, 2 * SECOND)
    assert not classic.tell().of(RULE)


def test_data_whose_marker_came_do_not_hang(classic):
    late_write(classic)
    classic.run("orders-1", "orders-0")
    go_on(classic)
    assert not classic.tell().of(RULE)


def test_a_partition_on_its_way_into_the_open_transaction_is_none_yet(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.data("orders-1", "payments-0")
    go_on(either, 20 * SECOND)
    told = either.tell()
    assert not told.of(RULE)
    assert "a minute later" in told.not_checkable(RULE)[0].missing


def test_a_partition_that_never_got_into_the_open_transaction_hangs(either):
    either.init("orders-1", HOUR)
    either.begin("orders-1", "orders-0")
    either.data("orders-1", "payments-0")
    go_on(either, 5 * MINUTE)
    assert either.tell().only(RULE).topic == "payments"


# Evidence cut short.


def test_a_coordinators_log_that_ends_before_the_data_refuses_a_verdict(tmp_path: Path):
    """The copy of the id's partition of the state is older than the data: the next transaction may stand in what is
    missing.
    """
    cluster = Cluster(tmp_path, state_partitions=2)
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0")
    end = cluster.state_log("orders-1").next_offset
    cluster.wait(10 * SECOND)
    cluster.begin("orders-1", "orders-0")
    cluster.state_log("orders-1").keep(lambda batch: batch.next_offset <= end)
    cluster.wait(20 * MINUTE)
    cluster.log("orders-0").marker((8_888, 0), True, 0, cluster.clock)
    told = cluster.tell()
    assert not told.of(RULE)
    assert "beyond the time" in told.not_checkable(RULE)[0].missing


def test_a_dead_brokers_copy_of_the_state_refuses_a_verdict(tmp_path: Path):
    """Two brokers, the id's partition of the state only on the one that died; another partition of the state goes
    on.
    """
    cluster = Cluster(tmp_path, brokers=2, state_partitions=2)
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0")
    mine = cluster.state_log("orders-1")
    mine.ends = {1: mine.next_offset}
    cluster.wait(10 * SECOND)
    cluster.begin("orders-1", "orders-0")
    cluster.wait(20 * MINUTE)
    cluster.beat(elsewhere(2), "orders-0")
    told = cluster.tell()
    assert not told.of(RULE)
    assert told.not_checkable(RULE)


def test_a_late_write_seen_by_position_needs_another_partition_of_the_state_that_goes_on(tmp_path: Path):
    """One broker, frozen at once: the id's own partition had nothing more to say, another one shows that the copy is
    young enough.
    """
    cluster = Cluster(tmp_path, state_partitions=2)
    late_write(cluster)
    cluster.wait(5 * MINUTE)
    cluster.beat(elsewhere(2))
    assert cluster.tell().only(RULE).verdict is Verdict.likely


def test_a_torn_coordinators_log_refuses_a_verdict(classic):
    late_write(classic)
    go_on(classic)
    classic.log(STATE).tear()
    told = classic.tell()
    assert not told.of(RULE)
    assert told.not_checkable(RULE)


def test_a_torn_data_log_refuses_a_verdict(classic):
    late_write(classic)
    go_on(classic)
    classic.log("orders-0").tear()
    told = classic.tell()
    assert not told.of(RULE)
    assert "offsets are missing" in told.not_checkable(RULE)[0].missing


def test_without_any_coordinators_log_nothing_is_said(classic):
    late_write(classic)
    go_on(classic)
    del classic.logs[STATE]
    told = classic.tell()
    assert not told.of(RULE)
    assert told.not_checkable(RULE)


@pytest.mark.parametrize("kept", [[0], [0, 1, 2], list(range(49))])
def test_some_of_fifty_partitions_of_the_state_are_not_all(tmp_path: Path, kept):
    """A producer id that none of those at hand knows may be known to one that is missing."""
    cluster = Cluster(tmp_path, state_partitions=50)
    cluster.beat()
    known = next(name for n in range(1000) if partition_for(name := f"app-{n}", 50) == 0)
    cluster.init(known)
    cluster.run(known, "heartbeats-0")
    cluster.late_data("orders-0", 9_999, 0)
    cluster.wait(20 * MINUTE)
    cluster.run(known, "heartbeats-0")
    cluster.logs = {
        name: log for name, log in cluster.logs.items() if log.topic != "__transaction_state" or log.partition in kept
    }
    told = cluster.tell()
    assert not told.of(RULE)
    assert told.not_checkable(RULE)


def test_a_follower_whose_copy_ends_before_the_marker_is_merged_with_the_leaders(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    cluster.init("orders-1")
    cluster.begin("orders-1", "orders-0")
    cluster.log("orders-0").ends[2] = cluster.log("orders-0").next_offset
    cluster.commit("orders-1")
    go_on(cluster)
    assert not cluster.tell().rules
    alone = cluster.tell(2)
    assert not alone.of(RULE)


def test_a_state_log_older_than_the_markers_is_not_the_newest_coordinators(classic):
    """g3: markers of this producer id by a later coordinator show that rows are missing at hand."""
    late_write(classic)
    go_on(classic)
    known = classic.ids["orders-1"]
    classic.log("payments-0").marker((known.producer_id, known.epoch), True, 7, classic.clock)
    told = classic.tell()
    assert not any(is_abort(remedy) for finding in told.of(RULE) for remedy in finding.remedies)
    assert all(finding.verdict < Verdict.proved for finding in told.of(RULE))


# What is proposed.


def is_abort(remedy: Remedy) -> bool:
    """Whether its command aborts."""
    return " abort " in str(remedy.command)


def test_abort_is_proposed_under_all_guards_and_with_a_second_look(classic):
    first = late_write(classic)
    go_on(classic)
    still_open, unknown, abort, _ = classic.tell().only(RULE).remedies
    assert (
        abort.command == "kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic orders --partition 0 "
        f"--start-offset {first}"
    )
    assert abort.text.startswith("Only if both checks say that it hangs")
    assert str(unknown.command).endswith("describe --transactional-id orders-1")
    assert "do not abort" in unknown.text
    assert str(abort.cost).startswith("read_committed readers lose the records")
    assert str(still_open.command).endswith("describe-producers --topic orders --partition 0")
    assert "stop here" in still_open.text
    assert abort.where == "operator"


def test_no_abort_is_proposed_before_the_longest_timeout_is_over(classic):
    late_write(classic)
    go_on(classic, 5 * MINUTE)
    finding = classic.tell().only(RULE)
    assert not any(is_abort(remedy) for remedy in finding.remedies)
    assert "describe-producers" in str(finding.remedies[0].command)
    assert "Do not abort before 10:20:00" in finding.remedies[0].text
    assert finding.remedies[0].text.startswith("Check that orders-0 still holds the transaction open")
    assert "From 10:20:00" in finding.remedies[2].text


def test_no_abort_is_proposed_where_the_rows_end_soon_after_the_data(tmp_path: Path):
    """g3: the coordinator may have begun another transaction in what is missing of its log."""
    cluster = Cluster(tmp_path, state_partitions=2)
    late_write(cluster)
    cluster.wait(MINUTE)
    cluster.beat("orders-1", "payments-0")
    cluster.wait(20 * MINUTE)
    cluster.log("heartbeats-0").marker((8_888, 0), True, 0, cluster.clock)
    told = cluster.tell()
    assert not any(is_abort(remedy) for finding in told.of(RULE) for remedy in finding.remedies)


def test_an_old_cluster_is_aborted_by_producer_and_coordinator_epoch(tmp_path: Path):
    """Without a cluster.id on disk the brokers are older than 2.4: no start offset can be asked for (KIP-664)."""
    cluster = Cluster(tmp_path, identified=False)
    late_write(cluster)
    go_on(cluster)
    still_open, unknown, abort, _ = cluster.tell().only(RULE).remedies
    assert (still_open.command, unknown.command) == ("kafka-dump-log.sh --files LOG_DIR/orders-0/SEGMENT.log", None)
    assert abort.command == (
        "kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic orders --partition 0 "
        "--producer-id 7000 --producer-epoch 0 --coordinator-epoch 0"
    )


def test_verification_is_proposed_against_the_next_one(classic):
    late_write(classic)
    go_on(classic)
    prevent = classic.tell().only(RULE).remedies[-1]
    assert (prevent.config, prevent.proposed) == ("transaction.partition.verification.enable", "true")


def test_a_marker_that_was_left_out_is_a_guess_that_troubles_nobody():
    skipped = line("server.log", 1_000, EventKind.marker_skipped, transactional_id="inv-1", detail="Set(inv-3, inv-4)")
    found = only(rule("hanging_transaction"), by_logs([skipped]))
    assert (found.verdict, found.severity, found.topic) == (Verdict.possible, Severity.info, "inv")
    assert "inv-3, inv-4" in found.summary
    assert "what was decided before you abort" in found.remedies[0].text  # an abort makes a lost COMMIT final


def test_the_first_partition_of_the_state_alone_does_not_tell_that_there_is_no_other(tmp_path: Path):
    """A producer that ended transactions in the data, and that no row names, has its rows elsewhere."""
    cluster = Cluster(tmp_path, state_partitions=2)
    home, other = sorted(("orders-1", elsewhere(2)), key=lambda name: partition_for(name, 2))
    for name in (home, other):
        cluster.init(name)
        cluster.run(name, "orders-0")
    cluster.begin(other, "orders-0")
    cluster.wait(20 * MINUTE)
    cluster.run(home, "orders-0")
    (directory,) = cluster.write()
    found = diagnose([directory / STATE, directory / "orders-0"])
    assert RULE not in {told.finding.rule for told in found.findings}
    assert RULE in {entry.rule for _, entry in found.not_checkable}


@pytest.mark.parametrize(
    ("transactions", "later_ms", "hangs"), [(4, 3_000, False), (4, 120_000, True), (1, 3_000, True)]
)
def test_the_next_data_of_a_producer_at_work_may_be_of_its_next_transaction(tmp_path, transactions, later_ms, hangs):
    """A running broker's files were copied one by one: its partition of __transaction_state first, the data later."""
    cluster = Cluster(tmp_path, state_partitions=2)
    cluster.init("orders-1")
    for _ in range(transactions):
        cluster.run("orders-1", "payments-0")
        cluster.wait(2 * SECOND)
    cluster.data("orders-1", "payments-0")
    cluster.wait(later_ms)
    cluster.beat(elsewhere(2))
    assert bool(cluster.tell().of(RULE)) is hangs


def test_a_switch_that_made_it_possible_contributed_and_is_no_root_cause_of_its_own():
    """Verification that is off lets a late write in; it writes none."""
    told = diagnose([fixtures() / "k39-hanging"])
    (hanging,) = (one for one in told.findings if one.finding.rule == RULE)
    (switch,) = (one for one in told.findings if one.finding.rule == "misconfiguration")
    assert hanging.caused_by is None
    assert hanging.contributing == (switch.id,)
    assert totals(told).startswith("1 root cause;")
