"""duplicate_sequence: a repeated batch that was refused; batches out of order are not it."""

from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict
from tests.histories.log_facts import ERRORS, line
from tests.rules.log_told import Client, by_logs, findings, only, rule

check = rule("duplicate_sequence")


def test_a_client_was_refused_a_repetition():
    told = line("a.log", None, EventKind.failure, error=f"{ERRORS}DuplicateSequenceException", detail="duplicate")
    found = only(check, by_logs([told]))
    assert found.verdict is Verdict.likely
    assert found.remedies[0].text.startswith("Do not send the records again")


def test_out_of_order_is_another_error():
    client = Client().start("10:00:00").abortable("10:00:30", f"{ERRORS}OutOfOrderSequenceException", "out of order")
    assert not findings(check, by_logs(client.said))


def test_without_the_error_nothing_is_said():
    assert not findings(check, by_logs(Client().start("10:00:00").said))
