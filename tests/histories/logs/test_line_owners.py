"""Many clients and many nameless lines in one log: each line is looked at by itself."""

from kafkatx.histories.logs.build import build_log_model
from kafkatx.terms.events import EventKind
from tests.histories.log_facts import FENCED, facts, line
from tests.work import lines_run

APPLICATION = "app.log"


def many(clients):
    """A log of as many clients, of each a line with its name and, a minute later, one without any name."""
    named = [
        line(APPLICATION, 10 * number, EventKind.to_fatal, transactional_id=f"orders-{number}",
             client_id=f"client-{number}", error=FENCED)
        for number in range(clients)
    ]  # fmt: skip
    nameless = [
        line(APPLICATION, 60_000 + 10 * number, EventKind.failure, thread=f"pool-{number}", thrown=FENCED,
             calls=("commitTransaction",))
        for number in range(clients)
    ]  # fmt: skip
    return facts([*named, *nameless])


def test_four_times_as_many_clients_and_nameless_lines_are_four_times_the_work():
    few, crowd = many(100), many(400)
    assert len(build_log_model(crowd).clients) == 400
    assert lines_run(lambda: build_log_model(crowd)) < 5 * lines_run(lambda: build_log_model(few))


def test_a_nameless_line_is_of_the_only_client_that_tells_of_its_exception_within_a_second():
    model = build_log_model(
        facts(
            [
                line(APPLICATION, 0, EventKind.to_fatal, transactional_id="a", client_id="one", error=FENCED),
                line(APPLICATION, 900, EventKind.failure, thread="main", thrown=FENCED, calls=("send",)),
                line(APPLICATION, 2_000, EventKind.to_fatal, transactional_id="b", client_id="two", error=FENCED),
                line(APPLICATION, 2_500, EventKind.to_fatal, transactional_id="a", client_id="one", error=FENCED),
                line(APPLICATION, 2_900, EventKind.failure, thread="other", thrown=FENCED, calls=("send",)),
            ]
        )
    )
    owners = [next((one.client_id for one in model.clients if row in one.rows), None) for row in range(5)]
    assert owners == ["one", "one", "two", "one", None]
