"""What clients' own logs prove of ends, and what they must not: aborts, refusals, new epochs."""

from kafkatx.histories.endings import Reason
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict
from tests.histories.log_facts import Line
from tests.histories.logs.runs import CLIENT, ID, NEW, SERVER, TIMEOUT, Run, ending, kinds, take_over
from tests.rules.cluster import MINUTE, SECOND, Cluster


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
    model = v2.told(SERVER)
    assert ending(model) == (NEW, Verdict.proved, Reason.two_instances)
    assert "client_abort" not in kinds(model)


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
    model = v2.told()
    mine = model.ends.witnesses.client_abort >= 0
    assert (model.transactions["decision"][mine] == 3).all()
    assert len(set(model.ends.witnesses.client_abort[mine].tolist())) == mine.sum() == 2


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
    model = v2.told()
    assert model.logs.clocks[1].zone_ms == shift
    assert ending(model) == (CLIENT, Verdict.proved, Reason.abort_line)
