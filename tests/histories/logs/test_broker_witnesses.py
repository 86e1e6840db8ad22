"""What brokers' logs prove of ends, and what they must not: rollbacks, silence, requests."""

from kafkatx.histories.endings import Reason
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict
from tests.histories.log_facts import facts, source, with_logs
from tests.histories.logs.runs import CLIENT, ID, NEW, SERVER, TIMEOUT, UNKNOWN, Run, aborted, ending, kinds, roll_back
from tests.rules.cluster import MINUTE, SECOND, Cluster


def test_the_coordinators_line_proves_a_timeout_that_a_prompt_start_left_open(v2):
    v2.begun()
    roll_back(v2)
    v2.cluster.wait(100)
    v2.cluster.empty(ID)
    assert ending(v2.told(SERVER))[:2] == (TIMEOUT, Verdict.possible)
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
    model = classic.told()
    assert model.transactions["begin_offset"][aborted(model)] < 0
    assert ending(model) == (TIMEOUT, Verdict.proved, Reason.rollback_line)


def test_a_rollback_of_another_time_or_id_proves_nothing(v2):
    v2.begun()
    v2.broker(EventKind.timeout_rollback, transactional_id="bills-1")
    v2.cluster.wait(2 * SECOND)
    v2.cluster.abort(ID)
    v2.cluster.wait(MINUTE)
    v2.broker(EventKind.timeout_rollback, transactional_id=ID)
    model = v2.told()
    assert ending(model)[:2] == (CLIENT, Verdict.likely)
    assert "rollback" not in kinds(model)


def test_each_of_two_rollbacks_belongs_to_its_own_transaction(classic):
    classic.begun()
    roll_back(classic)
    classic.cluster.wait(MINUTE)
    classic.cluster.init(ID, timeout_ms=10 * SECOND)
    classic.cluster.begin(ID, "orders-0")
    roll_back(classic)
    model = classic.told()
    found = model.ends.witnesses.rollback[model.ends.witnesses.rollback >= 0]
    assert len(set(found.tolist())) == 2
    assert (model.transactions["decision"][model.ends.witnesses.rollback >= 0] == 3).all()


def test_a_start_after_the_timeout_that_no_rollback_preceded_took_over(classic):
    """Rows can't tell who came first, the coordinator's log can."""
    classic.begun()
    classic.cluster.wait(12 * SECOND)
    classic.cluster.init(ID, timeout_ms=10 * SECOND)
    classic.granted()
    assert ending(classic.told(SERVER))[:2] == (TIMEOUT, Verdict.possible)
    assert ending(classic.told()) == (NEW, Verdict.likely, Reason.init_without_rollback)


def test_the_grant_itself_ends_the_time_in_which_a_rollback_would_stand(classic):
    """A log that was copied at once after the takeover: "Initialized" is its last line about the id."""
    classic.begun()
    classic.cluster.wait(12 * SECOND)
    classic.cluster.init(ID, timeout_ms=10 * SECOND)
    classic.granted()
    last = classic.cluster.clock + 1
    logs = facts(classic.lines, [source(SERVER, first=last - MINUTE, last=last)])
    model = with_logs(classic.cluster.model(), logs)
    assert ending(model) == (NEW, Verdict.likely, Reason.init_without_rollback)


def test_an_abort_of_its_own_that_no_rollback_preceded_is_the_clients(v2):
    v2.begun()
    v2.given("a")
    v2.cluster.wait(12 * SECOND)
    v2.client("a", EventKind.abort_called)
    v2.cluster.abort(ID)
    v2.cluster.wait(MINUTE)
    v2.granted()
    assert ending(v2.told()) == (CLIENT, Verdict.likely, Reason.abort_line)


def test_a_broker_log_that_ends_too_early_is_no_witness_of_silence(classic):
    classic.begun()
    classic.cluster.wait(12 * SECOND)
    last = classic.cluster.clock - SECOND
    classic.cluster.init(ID, timeout_ms=10 * SECOND)
    classic.cluster.beat()
    model = with_logs(classic.cluster.model(), facts(classic.lines, [source(SERVER, first=last - MINUTE, last=last)]))
    assert not model.ends.witnesses.is_silent.any()
    assert ending(model)[0] is TIMEOUT


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
