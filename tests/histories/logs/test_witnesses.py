"""All witnesses together where no row of the coordinator is at hand, and none where no log is."""

from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict
from tests.histories.log_facts import facts, with_logs
from tests.histories.logs.runs import (
    CLIENT,
    ID,
    NEW,
    SERVER,
    TIMEOUT,
    UNKNOWN,
    data_ending,
    roll_back,
    take_over,
    without_rows,
)
from tests.rules.cluster import SECOND


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
    model = classic.cluster.model()
    assert with_logs(model, facts([])).ends.reason.tolist() == model.ends.reason.tolist()
    assert len(model.ends.witnesses.rollback) == len(model.transactions)
