"""Instances that ran a transaction and that took its id over: what proves a fence."""

import pytest

from kafkatx.histories.endings import Reason
from kafkatx.terms.verdicts import Verdict
from tests.histories.logs.runs import NEW, SERVER, Run, aborted, ending, kinds, take_over
from tests.rules.cluster import SECOND


@pytest.mark.parametrize("kind", ["classic", "v2"])
def test_two_living_instances_prove_a_fence(kind, request):
    run: Run = request.getfixturevalue(kind)
    run.begun()
    take_over(run)
    run.cluster.wait(SECOND)
    run.fenced("a")
    assert ending(run.told(SERVER, "client-a.log", "client-b.log"))[:2] == (NEW, Verdict.likely)
    model = run.told()
    assert ending(model) == (NEW, Verdict.proved, Reason.two_instances)
    assert {"granted", "taken_over", "refusal"} <= set(kinds(model))
    old, new = (
        int(model.ends.witnesses.instance[aborted(model)]),
        int(model.ends.witnesses.new_instance[aborted(model)]),
    )
    assert (model.logs.clients[old].client_id, model.logs.clients[new].client_id) == ("a", "b")


def test_a_grant_proves_a_classic_fence_and_leaves_one_of_transactions_v2_open(classic, v2):
    """Under transactions v2 a client's own abort and a quick restart leave the same rows and the same broker line."""
    for run, verdict in ((classic, Verdict.proved), (v2, Verdict.likely)):
        run.begun()
        take_over(run)
        assert ending(run.told("client-a.log", "client-b.log"))[:2] == (NEW, verdict)
