"""Whatever producers and a coordinator may legally do makes a legal model: nothing odd, no alarm, the right ends."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.transaction_partitions import Status
from kafkatx.terms.verdicts import Verdict
from tests.rules.cluster import DAY, MINUTE, SECOND, Cluster, Ongoing, Told

NAMES = ("orders-1", "orders-2", "settle-1")
PARTITIONS = ("orders-0", "orders-1", "payments-0", "__consumer_offsets-3")
TIMEOUT = MINUTE
LOOK = 10 * SECOND
ID, SOME_PARTITIONS = st.sampled_from(NAMES), st.sets(st.sampled_from(PARTITIONS), min_size=1)

RULE_OF = {
    EndedBy.timeout: "transaction_timed_out",
    EndedBy.new_instance: "fenced_by_new_instance",
}
"""What each end is told as; an abort by the client as aborted_by_client, a commit as nothing."""


class LegalRuns(RuleBasedStateMachine):
    """`truth`: who ended the transaction of an id that began at a time, and whether the coordinator changed in it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.truth: dict[tuple[str, int], tuple[EndedBy, bool]] = {}
        self.aborted_at: dict[str, int] = {}
        self.began_under: dict[str, int] = {}
        self.must_initialise = set(NAMES)
        self.client_aborts = self.returns = 0
        self.forgotten: set[str] = set()

    @initialize(v2=st.booleans(), state_partitions=st.sampled_from([1, 2, 50]))
    def start(self, v2: bool, state_partitions: int) -> None:
        self.cluster = Cluster(Path(self.folder.name), v2=v2, state_partitions=state_partitions)

    # What time does.

    def pass_time(self, milliseconds: int) -> None:
        """Advance the clock; the coordinator looks in between and aborts what is over its timeout."""
        end = self.cluster.clock + milliseconds
        due = sorted((self.cluster.ids[name].started_at + TIMEOUT + LOOK // 2, name) for name in self.open_ids())
        for time, name in due:
            if time <= end:
                self.cluster.clock = max(self.cluster.clock, time)
                self.note(name, EndedBy.timeout)
                self.cluster.end(name, False, by_coordinator=True)
                self.must_initialise.add(name)
        self.cluster.clock = max(self.cluster.clock, end)

    @rule(milliseconds=st.sampled_from([1, 40, 700, 3 * SECOND, 20 * SECOND, 70 * SECOND]))
    def wait(self, milliseconds: int) -> None:
        self.pass_time(milliseconds)

    @rule()
    def change_the_coordinator(self) -> None:
        self.cluster.coordinator_epoch += 1

    @rule(partition=st.sampled_from(PARTITIONS[:3]), records=st.integers(1, 3))
    def write_outside_transactions(self, partition: str, records: int) -> None:
        self.cluster.plain(partition, records)

    # What clients do.

    @rule(name=ID, retry_ms=st.sampled_from([20, 110, 500]), old_client=st.booleans())
    def initialise(self, name: str, retry_ms: int, old_client: bool) -> None:
        """A start; over an open transaction it is a take-over.

        Not done by a v2 producer within a second of its own abort, nor between timeout and look: rows alone can't tell
        these from a fence, and the verdict says so.
        """
        known = self.cluster.ids.get(name)
        if known is not None and known.v2 and self.cluster.clock - self.aborted_at.get(name, 0) <= 2 * SECOND:
            self.pass_time(2 * SECOND)
        if name in self.open_ids():
            if self.age(name) > TIMEOUT:
                return
            self.note(name, EndedBy.new_instance)
        self.returns += name in self.forgotten
        self.forgotten.discard(name)
        self.cluster.init(name, TIMEOUT, v2=self.cluster.v2 and not old_client, retry_ms=retry_ms)
        self.must_initialise.discard(name)

    @rule(name=ID, partitions=SOME_PARTITIONS, records=st.integers(0, 3))
    def write(self, name: str, partitions: set[str], records: int) -> None:
        """Write to partitions, adding those that are new to the transaction; sometimes they get no data."""
        if name in self.must_initialise or self.is_over(name):
            return
        known = self.cluster.ids[name]
        new = sorted(partitions - set(known.partitions if known.state is Ongoing else ()))
        if known.state is not Ongoing:
            self.began_under[name] = self.cluster.coordinator_epoch
        if new:
            self.cluster.ongoing(name, *new)
        self.cluster.wait(2)
        for partition in sorted(partitions) if records else ():
            self.cluster.data(name, partition, records)

    @rule(name=ID, is_commit=st.booleans(), change=st.booleans())
    def end(self, name: str, is_commit: bool, change: bool) -> None:
        """Commit or abort; the coordinator may change after the markers, and then all of them are written again."""
        known = self.cluster.ids.get(name)
        if name not in self.open_ids() or known is None or (self.is_over(name) and known.v2 and not is_commit):
            return
        self.note(name, EndedBy.client)
        self.client_aborts += not is_commit
        self.cluster.prepare(name, is_commit)
        self.cluster.wait(1)
        self.cluster.markers(name)
        if change:
            self.cluster.coordinator_epoch += 1
            self.cluster.wait(2)
            self.cluster.markers(name)
        self.cluster.wait(1)
        self.cluster.complete(name)
        self.cluster.wait(1)
        if not is_commit:
            self.aborted_at[name] = self.cluster.clock

    @rule(name=ID, partitions=SOME_PARTITIONS, is_commit=st.booleans(), records=st.integers(0, 2), change=st.booleans())
    def run_a_whole_transaction(
        self, name: str, partitions: set[str], is_commit: bool, records: int, change: bool
    ) -> None:
        if name in self.must_initialise:
            self.initialise(name, 110, False)
        self.write(name, partitions, records)
        self.end(name, is_commit, change)

    @rule(
        name=ID, partitions=SOME_PARTITIONS, freeze=st.booleans(), pause=st.sampled_from([30, 2 * SECOND, 20 * SECOND])
    )
    def die_in_a_transaction(self, name: str, partitions: set[str], freeze: bool, pause: int) -> None:
        """A crash and a restart, or a stop of the world beyond the timeout and a restart."""
        if name in self.must_initialise:
            self.initialise(name, 110, False)
        self.write(name, partitions, 1)
        self.pass_time(MINUTE + LOOK if freeze else 0)
        self.pass_time(pause)
        self.initialise(name, 110, False)

    @rule(name=ID)
    def abort_nothing(self, name: str) -> None:
        """Under transactions v2 an abort before any write has rows of its own."""
        known = self.cluster.ids.get(name)
        if known is None or not known.v2 or name in self.open_ids() or name in self.must_initialise:
            return
        self.began_under[name] = self.cluster.coordinator_epoch
        self.truth[name, self.cluster.clock] = (EndedBy.client, False)
        self.client_aborts += 1
        self.cluster.abort(name)
        self.aborted_at[name] = self.cluster.clock

    @precondition(lambda self: len(self.truth) >= 4)
    @rule(name=ID)
    def forget(self, name: str) -> None:
        """Seven days without it: the coordinator forgets the id."""
        if name not in self.cluster.ids or name in self.open_ids():
            return
        self.pass_time(7 * DAY + 20 * MINUTE)
        self.cluster.expire(name)
        self.must_initialise.add(name)
        self.forgotten.add(name)

    # What is known of it.

    def open_ids(self) -> list[str]:
        return [name for name, known in self.cluster.ids.items() if known.state is Ongoing]

    def age(self, name: str) -> int:
        return self.cluster.clock - self.cluster.ids[name].started_at

    def is_over(self, name: str) -> bool:
        return name in self.open_ids() and self.age(name) >= TIMEOUT

    def note(self, name: str, ended_by: EndedBy) -> None:
        changed = self.began_under[name] != self.cluster.coordinator_epoch
        self.truth[name, self.cluster.ids[name].started_at] = (ended_by, changed)

    # What must hold.

    def teardown(self) -> None:
        if hasattr(self, "cluster") and self.cluster.ids:
            model = self.cluster.model()
            self.check_transactions(model)
            self.check_spans(model)
            self.check_findings()
        self.folder.cleanup()

    def check_transactions(self, model: CaptureModel) -> None:
        """Every transaction ended as it did; where two clocks are compared it may also be unknown."""
        assert not len(model.oddities)
        told = {}
        for number, row in enumerate(model.transactions):
            if row["decision"] >= 0:
                told[model.transactional_id(int(row["id_code"])), int(row["started_at"])] = number
        assert told.keys() == self.truth.keys()
        for key, number in told.items():
            ended_by, changed = self.truth[key]
            found = EndedBy(int(model.ends.ended_by[number]))
            assert found is ended_by or (changed and found is EndedBy.unknown), (key, found, ended_by)

    def check_spans(self, model: CaptureModel) -> None:
        """Data belong to a transaction of their own producer, and every partition of an ended one has its marker."""
        with_data = model.spans["first_offset"] >= 0
        owners = model.parts.owner[with_data]
        assert (owners >= 0).all()
        assert (model.transactions["producer_id"][owners] == model.spans["producer_id"][with_data]).all()
        completed = model.transactions["completion_offset"][model.parts.rows["transaction"]] >= 0
        assert (model.parts.rows["status"][completed] == Status.MARKED).all()

    def check_findings(self) -> None:
        """Only what happened is told, and all of it."""
        told = self.cluster.tell()
        ends = {ended_by for ended_by, _ in self.truth.values()}
        surely = {ended_by for ended_by, changed in self.truth.values() if not changed}
        for ended_by, rule_id in RULE_OF.items():
            assert ended_by in ends or rule_id not in told.rules
            assert ended_by not in surely or rule_id in told.rules or self.is_absorbed(told, rule_id)
        assert ("aborted_by_client" in told.rules) <= bool(self.client_aborts)
        assert ("transactional_id_expired" in told.rules) is bool(self.returns)
        assert {finding.transactional_id for finding in told.of("open_transaction")} == set(self.open_ids())
        expected = {*RULE_OF.values(), "aborted_by_client", "transactional_id_expired", "open_transaction"}
        guesses = {
            rule_id for rule_id in told.rules if all(one.verdict is Verdict.possible for one in told.of(rule_id))
        }
        effects = {"read_committed_blocked", "committed_but_unreadable", "pending_offset_commit"}
        assert told.rules - guesses <= {*expected, *effects, "shared_producer"}
        assert guesses <= {*expected, *effects, "shared_producer", "fenced_by_group_generation"}
        assert not told.diagnosis.damage

    def is_absorbed(self, told: Told, rule_id: str) -> bool:
        """Whether take-overs that came thick and fast are told as one: two owners in turns, or a crash loop."""
        taken = [finding for finding in told.of("shared_producer") if finding.count >= 3]
        return rule_id == RULE_OF[EndedBy.new_instance] and bool(taken)


TestLegalRuns = LegalRuns.TestCase
TestLegalRuns.settings = settings(
    max_examples=60, stateful_step_count=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
