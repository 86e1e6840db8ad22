"""zombie_coordinator: the leader's line proves that the fence worked; other refusals of epochs are not it."""

from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import line
from tests.rules.log_told import by_logs, findings, only, rule

check = rule("zombie_coordinator")


def refused(kind=EventKind.zombie_coordinator, **columns):
    said = {"side": Side.broker, "producer_id": 9, "topic": "a", "partition": 1, **columns}
    return [line("server.log", "10:00:00", kind, **said)]


def test_the_line_proves_that_the_marker_was_refused():
    found = only(check, by_logs(refused(producer_epoch=3, other_epoch=5)))
    assert (found.verdict, found.severity, found.producer_id) == (Verdict.proved, Severity.info, 9)
    assert found.steps[0].text == "The marker carried coordinator epoch 3, the leader had seen 5"


def test_a_line_without_epochs_is_enough():
    assert len(only(check, by_logs(refused())).steps) == 1


def test_an_old_producer_epoch_is_another_refusal():
    assert not findings(check, by_logs(refused(EventKind.stale_epoch, producer_epoch=3, other_epoch=5)))
