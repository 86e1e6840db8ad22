"""Logs heard before it is decided who ended a transaction: each witness, what it proves, and what it must not."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kafkatx.histories.data_endings import data_endings
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.story import Story
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict
from tests.histories.log_facts import FENCED, Line, facts, line, settings, source, with_logs
from tests.rules.cluster import MINUTE, SECOND, Cluster

ID = "orders-1"
SERVER = "broker-1/server.log"
TIMEOUT, CLIENT, NEW, UNKNOWN = EndedBy.timeout, EndedBy.client, EndedBy.new_instance, EndedBy.unknown


@dataclass
class Run:
    """A cluster and the logs that its broker and clients write beside it."""

    cluster: Cluster
    lines: list[Line] = field(default_factory=list)

    def begun(self, client: str = "a", timeout_ms: int = 10 * SECOND) -> None:
        """A producer of client `a` with an open transaction, and the epoch that it logs."""
        self.cluster.init(ID, timeout_ms=timeout_ms)
        self.granted()
        self.given(client)
        self.cluster.run(ID, "orders-0")
        self.cluster.begin(ID, "orders-0")

    def client(self, name: str, kind: EventKind, **columns: object) -> None:
        names = {"client_id": name, "transactional_id": ID}
        self.lines.append(line(f"client-{name}.log", self.cluster.clock, kind, **names, **columns))

    def broker(self, kind: EventKind, **columns: object) -> None:
        self.lines.append(line(SERVER, self.cluster.clock, kind, **columns))

    def given(self, client: str) -> None:
        known = self.cluster.ids[ID]
        self.client(client, EventKind.producer_id_set, producer_id=known.producer_id, producer_epoch=known.epoch)

    def granted(self) -> None:
        known = self.cluster.ids[ID]
        numbers = {"producer_id": known.producer_id, "producer_epoch": known.epoch}
        self.broker(EventKind.initialized, transactional_id=ID, **numbers)

    def fenced(self, client: str) -> None:
        self.client(client, EventKind.to_fatal, error=FENCED)

    def told(self, *without: str) -> Story:
        """The story with logs of all but some sources; the broker's log goes on after the last event."""
        self.cluster.wait(MINUTE)
        self.cluster.beat()
        last = source(SERVER, first=self.cluster.clock - 60 * MINUTE, last=self.cluster.clock)
        lines = [entry for entry in self.lines if entry.path not in without]
        return with_logs(self.cluster.story(), facts(lines, [last] if SERVER not in without else []))


@pytest.fixture
def classic(tmp_path: Path) -> Run:
    return Run(Cluster(tmp_path / "classic"))


@pytest.fixture
def v2(tmp_path: Path) -> Run:
    return Run(Cluster(tmp_path / "v2", v2=True))


def ending(story: Story) -> tuple[EndedBy, Verdict, Reason]:
    """Who ended the id's last aborted transaction."""
    row = aborted(story)
    ended = story.endings
    return EndedBy(int(ended.ended_by[row])), Verdict(int(ended.verdict[row])), Reason(int(ended.reason[row]))


def aborted(story: Story) -> int:
    (code,) = [number for number, name in enumerate(story.labels.transactional_ids) if name == ID]
    return max(row for row in story.transactions_of(code).tolist() if story.transactions["decision"][row] == 3)


def kinds(story: Story) -> dict[str, EventKind]:
    """The witnesses of that transaction, by name."""
    rows = story.witnesses.rows_of(aborted(story))
    return {name: story.logs.kind(row) for name, row in rows.items()}


def roll_back(run: Run, over_ms: int = SECOND) -> None:
    run.cluster.time_out(ID, over_ms)
    run.broker(EventKind.timeout_rollback, transactional_id=ID)


def take_over(run: Run, client: str = "b") -> None:
    """A second instance initialises while the transaction is open."""
    run.cluster.wait(2 * SECOND)
    run.cluster.init(ID, timeout_ms=10 * SECOND)
    run.granted()
    run.given(client)


def test_the_coordinators_line_proves_a_timeout_that_a_prompt_start_left_open(v2):
    v2.begun()
    roll_back(v2)
    v2.cluster.wait(100)
    v2.cluster.empty(ID)
    assert ending(v2.told(SERVER))[:2] == (TIMEOUT, Verdict.likely)
    assert ending(v2.told()) == (TIMEOUT, Verdict.proved, Reason.rollback_line)


def test_the_coordinators_line_stays_with_its_abort_though_a_restart_commits_at_once(classic):
    classic.begun()
    roll_back(classic)
    classic.cluster.wait(20)
    classic.cluster.empty(ID)
    classic.granted()
    classic.given("b")
    classic.cluster.run(ID, "orders-0")
    assert ending(classic.told()) == (TIMEOUT, Verdict.proved, Reason.rollback_line)


def test_the_coordinators_line_proves_a_timeout_on_a_broker_that_keeps_the_epoch(tmp_path):
    """0.11.0.0 and 0.11.0.1: rows alone fit a client that aborted late."""
    run = Run(Cluster(tmp_path, raises_epoch=False, identified=False))
    run.begun()
    roll_back(run)
    assert ending(run.told(SERVER)) == (UNKNOWN, Verdict.possible, Reason.no_bump_release)
    assert ending(run.told()) == (TIMEOUT, Verdict.proved, Reason.rollback_line)


def test_the_coordinators_line_is_believed_where_the_cleaner_left_only_the_end(classic):
    classic.begun()
    roll_back(classic)
    log = classic.cluster.state_log(ID)
    log.batches, log.first_dirty = log.batches[-1:], log.next_offset
    story = classic.told()
    assert story.transactions["begin_offset"][aborted(story)] < 0
    assert ending(story) == (TIMEOUT, Verdict.proved, Reason.rollback_line)


def test_a_rollback_of_another_time_or_id_proves_nothing(v2):
    v2.begun()
    v2.broker(EventKind.timeout_rollback, transactional_id="bills-1")
    v2.cluster.wait(2 * SECOND)
    v2.cluster.abort(ID)
    v2.cluster.wait(MINUTE)
    v2.broker(EventKind.timeout_rollback, transactional_id=ID)
    story = v2.told()
    assert ending(story)[:2] == (CLIENT, Verdict.likely)
    assert "rollback" not in kinds(story)


def test_each_of_two_rollbacks_belongs_to_its_own_transaction(classic):
    classic.begun()
    roll_back(classic)
    classic.cluster.wait(MINUTE)
    classic.cluster.init(ID, timeout_ms=10 * SECOND)
    classic.cluster.begin(ID, "orders-0")
    roll_back(classic)
    story = classic.told()
    found = story.witnesses.rollback[story.witnesses.rollback >= 0]
    assert len(set(found.tolist())) == 2
    assert (story.transactions["decision"][story.witnesses.rollback >= 0] == 3).all()


@pytest.mark.parametrize("kind", ["classic", "v2"])
def test_two_living_instances_prove_a_fence(kind, request):
    run: Run = request.getfixturevalue(kind)
    run.begun()
    take_over(run)
    run.cluster.wait(SECOND)
    run.fenced("a")
    assert ending(run.told(SERVER, "client-a.log", "client-b.log"))[:2] == (NEW, Verdict.likely)
    story = run.told()
    assert ending(story) == (NEW, Verdict.proved, Reason.two_instances)
    assert {"granted", "taken_over", "refusal"} <= set(kinds(story))
    old, new = (int(story.witnesses.instance[aborted(story)]), int(story.witnesses.new_instance[aborted(story)]))
    assert (story.logs.clients[old].client_id, story.logs.clients[new].client_id) == ("a", "b")


def test_a_grant_proves_a_classic_fence_and_leaves_one_of_transactions_v2_open(classic, v2):
    """Under transactions v2 a client's own abort and a quick restart leave the same rows and the same broker line."""
    for run, verdict in ((classic, Verdict.proved), (v2, Verdict.likely)):
        run.begun()
        take_over(run)
        assert ending(run.told("client-a.log", "client-b.log"))[:2] == (NEW, verdict)


def test_a_v2_abort_and_quick_restart_is_the_clients_where_its_log_says_so(v2):
    v2.begun()
    v2.cluster.wait(2 * SECOND)
    v2.client("a", EventKind.abort_on_close)
    v2.cluster.abort(ID)
    v2.cluster.wait(300)
    v2.cluster.init(ID, timeout_ms=10 * SECOND)
    v2.given("b")
    assert ending(v2.told("client-a.log"))[:2] == (NEW, Verdict.likely)
    assert ending(v2.told()) == (CLIENT, Verdict.likely, Reason.abort_line)


def test_a_clients_abort_after_which_it_goes_on_is_proved(v2):
    v2.begun()
    v2.cluster.wait(2 * SECOND)
    v2.client("a", EventKind.abort_called)
    v2.cluster.abort(ID)
    v2.cluster.wait(MINUTE)
    v2.client("a", EventKind.client_closing)
    assert ending(v2.told("client-a.log"))[:2] == (CLIENT, Verdict.likely)
    assert ending(v2.told()) == (CLIENT, Verdict.proved, Reason.abort_line)


def test_an_abort_line_and_a_producer_that_goes_on_prove_each_other(v2):
    v2.begun()
    v2.client("a", EventKind.abort_called)
    v2.cluster.wait(5)
    v2.cluster.abort(ID)
    v2.cluster.run(ID, "orders-0")
    assert ending(v2.told("client-a.log"))[:2] == (CLIENT, Verdict.likely)
    assert ending(v2.told()) == (CLIENT, Verdict.proved, Reason.abort_line)


def test_an_abort_that_is_refused_is_not_the_end(v2):
    """The coordinator was first: the same line is printed, and the answer is a refusal."""
    v2.begun()
    take_over(v2)
    v2.client("a", EventKind.abort_called)
    v2.cluster.wait(5)
    v2.fenced("a")
    story = v2.told(SERVER)
    assert ending(story) == (NEW, Verdict.proved, Reason.two_instances)
    assert "client_abort" not in kinds(story)


def test_each_abort_of_a_client_is_laid_beside_its_own_transaction(v2):
    """Two aborts, of which the first is logged by a client that lives on, and one commit between them."""
    v2.begun()
    for _ in range(2):
        v2.client("a", EventKind.abort_called)
        v2.cluster.wait(3)
        v2.cluster.abort(ID)
        v2.cluster.run(ID, "orders-0")
        v2.cluster.begin(ID, "orders-0")
    v2.cluster.commit(ID)
    story = v2.told()
    mine = story.witnesses.client_abort >= 0
    assert (story.transactions["decision"][mine] == 3).all()
    assert len(set(story.witnesses.client_abort[mine].tolist())) == mine.sum() == 2


def test_a_client_that_fences_itself_is_no_new_instance(classic):
    """It asks for a new epoch with its transaction open, and is given it (librdkafka after a lost connection)."""
    classic.begun()
    known = classic.cluster.ids[ID]
    numbers = {"producer_id": known.producer_id, "producer_epoch": known.epoch}
    classic.cluster.wait(SECOND)
    classic.client("a", EventKind.init_bump, **numbers)
    classic.cluster.init(ID, timeout_ms=10 * SECOND)
    classic.granted()
    classic.given("a")
    assert ending(classic.told()) == (CLIENT, Verdict.likely, Reason.own_bump_line)


def test_a_start_after_the_timeout_that_no_rollback_preceded_took_over(classic):
    """Rows can't tell who came first, the coordinator's log can."""
    classic.begun()
    classic.cluster.wait(12 * SECOND)
    classic.cluster.init(ID, timeout_ms=10 * SECOND)
    classic.granted()
    assert ending(classic.told(SERVER))[:2] == (TIMEOUT, Verdict.likely)
    assert ending(classic.told()) == (NEW, Verdict.likely, Reason.init_without_rollback)


def test_a_broker_log_that_ends_too_early_is_no_witness_of_silence(classic):
    classic.begun()
    classic.cluster.wait(12 * SECOND)
    last = classic.cluster.clock - SECOND
    classic.cluster.init(ID, timeout_ms=10 * SECOND)
    classic.cluster.beat()
    story = with_logs(classic.cluster.story(), facts(classic.lines, [source(SERVER, first=last - MINUTE, last=last)]))
    assert not story.witnesses.is_silent.any()
    assert ending(story)[0] is TIMEOUT


def test_the_request_log_names_the_clients_own_end(v2):
    v2.begun()
    v2.cluster.wait(2 * SECOND)
    v2.cluster.abort(ID)
    v2.broker(EventKind.request_seen, api="EndTxn", client_id="a", transactional_id=ID, error="NONE")
    v2.cluster.wait(300)
    v2.cluster.init(ID, timeout_ms=10 * SECOND)
    assert ending(v2.told()) == (CLIENT, Verdict.proved, Reason.end_request)


def test_the_request_log_names_who_asked_for_the_id(v2):
    """Under transactions v2 rows can't tell a fence from an abort and a quick restart: requests do."""
    v2.begun()
    asked = {"transactional_id": ID, "client_id": "b", "api": "InitProducerId"}
    v2.cluster.wait(2 * SECOND)
    v2.cluster.init(ID, timeout_ms=10 * SECOND)
    v2.broker(EventKind.request_seen, error="CONCURRENT_TRANSACTIONS", **asked)
    v2.cluster.begin(ID, "orders-0")
    v2.cluster.commit(ID)
    assert ending(v2.told())[:2] == (NEW, Verdict.likely), "a log of InitProducerId alone may leave EndTxn out"
    v2.broker(EventKind.request_seen, api="EndTxn", number=1, client_id="b", transactional_id=ID, error="NONE")
    assert ending(v2.told()) == (NEW, Verdict.proved, Reason.init_request)


def test_a_commit_in_the_request_log_is_nobodys_abort(v2):
    """The commit of the transaction before came a moment earlier."""
    v2.begun()
    v2.broker(EventKind.request_seen, api="EndTxn", number=1, client_id="a", transactional_id=ID, error="NONE")
    v2.cluster.init(ID, timeout_ms=10 * SECOND)
    assert "end_request" not in kinds(v2.told())


def test_a_commit_that_was_refused_tells_who_did_not_abort(tmp_path):
    """On 0.11.0.1 the coordinator keeps the epoch: the client's own log shows that it did not abort."""
    run = Run(Cluster(tmp_path, raises_epoch=False, identified=False))
    run.begun()
    run.cluster.time_out(ID)
    run.cluster.wait(SECOND)
    refused = "org.apache.kafka.common.errors.InvalidTxnStateException"
    run.client("a", EventKind.failure, thrown=[refused], calls=("commitTransaction",))
    assert ending(run.told(SERVER)) == (TIMEOUT, Verdict.likely, Reason.state_refused)


def test_a_zone_of_its_own_does_not_keep_a_client_from_witnessing(v2):
    """The client's log is in +08:00: its grant tells, and its abort then lies where it belongs."""
    v2.begun()
    v2.cluster.wait(2 * SECOND)
    v2.client("a", EventKind.abort_called)
    v2.cluster.abort(ID)
    v2.cluster.wait(MINUTE)
    v2.client("a", EventKind.client_closing)
    shift = 8 * 60 * MINUTE
    v2.lines = [
        Line(
            one.path, one.at + (shift if "client" in one.path else 0), one.kind, one.level, one.side, one.columns, None
        )
        for one in v2.lines
    ]
    story = v2.told()
    assert story.logs.clocks[1].zone_ms == shift
    assert ending(story) == (CLIENT, Verdict.proved, Reason.abort_line)


def data_ending(story: Story) -> tuple[EndedBy, Verdict, Reason]:
    """Who ended the last aborted data, by data and logs alone."""
    found = data_endings(story)
    return EndedBy(int(found.ended_by[-1])), Verdict(int(found.verdict[-1])), Reason(int(found.reason[-1]))


def without_rows(run: Run, *without: str, timeout: str | None = None) -> Story:
    """The story of data and logs, the coordinator's partition not being at hand; `timeout` is a setting of client a."""
    run.cluster.logs = {name: log for name, log in run.cluster.logs.items() if not name.startswith("__")}
    lines = [entry for entry in run.lines if entry.path not in without]
    values = {"client.id": "a", "transactional.id": ID, "transaction.timeout.ms": timeout}
    blocks = [settings("client-a.properties", "producer", values)] if timeout else []
    return with_logs(run.cluster.story(), facts(lines, blocks=blocks))


def test_the_coordinators_line_proves_a_timeout_where_no_row_is_at_hand(classic, v2):
    """The broker's log tells whose producer id it was; under transactions v2 data alone tell nothing."""
    for run, alone in ((classic, EndedBy.new_instance), (v2, UNKNOWN)):
        run.begun(timeout_ms=10 * SECOND)
        roll_back(run)
        assert data_ending(without_rows(run, SERVER))[0] is alone
        assert data_ending(without_rows(run)) == (TIMEOUT, Verdict.proved, Reason.rollback_line)


def test_two_living_instances_prove_a_fence_where_no_row_is_at_hand(classic, v2):
    for run, alone in ((classic, NEW), (v2, UNKNOWN)):
        run.begun()
        take_over(run)
        run.cluster.wait(SECOND)
        run.fenced("a")
        without = (SERVER, "client-a.log", "client-b.log")
        assert data_ending(without_rows(run, *without))[:2] == (alone, Verdict.possible)
        assert data_ending(without_rows(run, SERVER)) == (NEW, Verdict.likely, Reason.two_instances)
        proof = without_rows(run, SERVER, timeout="10000")
        assert data_ending(proof) == (NEW, Verdict.proved, Reason.two_instances)


def test_two_instances_prove_no_fence_where_the_first_may_have_timed_out(classic):
    """A start within seconds of the coordinator's abort: data and clients' logs are those of a fence."""
    classic.begun()
    classic.cluster.time_out(ID)
    classic.cluster.wait(2 * SECOND)
    classic.cluster.empty(ID)
    classic.given("b")
    classic.fenced("a")
    assert data_ending(without_rows(classic, SERVER))[1] is Verdict.likely
    assert data_ending(without_rows(classic, SERVER, timeout="10000"))[0] is not NEW


def test_a_clients_abort_outweighs_an_operators_where_no_row_is_at_hand(classic, v2):
    for run, verdict in ((classic, Verdict.proved), (v2, Verdict.likely)):
        run.begun()
        run.cluster.wait(SECOND)
        run.client("a", EventKind.abort_called)
        run.cluster.abort(ID)
        assert data_ending(without_rows(run)) == (CLIENT, verdict, Reason.abort_line)


def test_without_logs_nothing_changes(classic):
    classic.begun()
    take_over(classic)
    story = classic.cluster.story()
    assert with_logs(story, facts([])).endings.reason.tolist() == story.endings.reason.tolist()
    assert len(story.witnesses.rollback) == len(story.transactions)
