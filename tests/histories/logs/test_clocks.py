"""Zones and skew of logs, from events that rows or other logs show too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.histories.logs.clocks import QUARTER_MS, References, clocks
from kafkatx.histories.logs.log_model import Clock
from kafkatx.kernels.rows import INITIALISATION, TRANSACTION
from kafkatx.terms.events import EventKind
from tests.histories.log_facts import DAY, FENCED, TIMED_OUT, facts, line, source

HOUR = 3_600_000
NOON = DAY + 12 * HOUR
SERVER = "broker-1/server.log"


def rows(*times: int, name: int = 0) -> References:
    """Empty rows of one id at these times: producer id 7, epochs 0, 1, 2, ..."""
    table = np.zeros(len(times), INITIALISATION)
    table["producer_id"], table["producer_epoch"], table["timestamp"] = 7, range(len(times)), times
    table["id_code"] = name
    return References(table, transactional_ids=["orders", "bills"])


def aborts(*times: int) -> References:
    """PrepareAbort rows of `orders`."""
    table = np.zeros(len(times), TRANSACTION)
    table["decision"], table["decision_timestamp"], table["decided_at"] = 3, times, times
    return References(transactions=table, transactional_ids=["orders"])


def given_at(path: str, *times: int, **columns: object) -> list:
    return [
        line(path, at, EventKind.producer_id_set, producer_id=7, producer_epoch=epoch, **columns)
        for epoch, at in enumerate(times)
    ]


def granted_at(path: str, *times: int) -> list:
    return [
        line(path, at, EventKind.initialized, transactional_id="orders", producer_id=7, producer_epoch=epoch)
        for epoch, at in enumerate(times)
    ]


@given(
    quarters=st.integers(-48, 56),
    skew=st.integers(-30_000, 30_000),
    jitters=st.lists(st.integers(0, 400), min_size=1, max_size=30),
)
def test_a_zone_and_a_skew_are_found_again(quarters, skew, jitters):
    at = [NOON + number * 60_000 for number in range(len(jitters))]
    printed = [time + quarters * QUARTER_MS + skew + jitter for time, jitter in zip(at, jitters, strict=True)]
    (clock,) = clocks(facts(given_at("client.log", *printed)), rows(*at))
    assert clock.zone_ms == quarters * QUARTER_MS
    assert clock.skew_ms in range(skew, skew + 401)
    assert clock.spread_ms in range(401)
    assert clock.pairs == len(jitters)
    assert clock.zone_from == ("estimated" if quarters else "assumed UTC")


@given(quarters=st.integers(-48, 56), skew=st.integers(-20_000, 20_000))
def test_clients_are_compared_with_brokers_logs_where_no_rows_are_at_hand(quarters, skew):
    at = [NOON, NOON + 60_000]
    printed = [time + quarters * QUARTER_MS + skew for time in at]
    client, broker = clocks(facts([*given_at("app.log", *printed), *granted_at(SERVER, *at)]), References())
    assert (client.zone_ms, client.skew_ms, client.pairs) == (quarters * QUARTER_MS, skew, 2)
    assert broker == Clock()


def test_a_broker_in_its_own_zone_is_set_right_before_clients_are_compared_with_it():
    """The broker's rows tell its zone (+02:00), the broker's lines then the client's (-05:00)."""
    lines = [*granted_at(SERVER, NOON + 2 * HOUR), *given_at("app.log", NOON - 5 * HOUR + 3)]
    broker, client = clocks(facts(lines), rows(NOON))
    assert (broker.zone_ms, client.zone_ms, client.skew_ms) == (2 * HOUR, -5 * HOUR, 3)


def test_a_clock_that_is_wrong_by_an_odd_amount_is_skewed_and_not_zoned():
    wrong = 80 * 60_000
    (clock,) = clocks(facts(given_at("app.log", NOON + wrong, NOON + HOUR + wrong)), rows(NOON, NOON + HOUR))
    assert (clock.zone_ms, clock.skew_ms, clock.zone_from) == (0, wrong, "assumed UTC")


def test_times_that_name_their_zone_keep_it_whatever_the_pairs_say():
    zoned = facts(given_at("app.log", NOON + 8 * HOUR), [source("app.log", is_zoned=True)])
    (clock,) = clocks(zoned, rows(NOON), log_zone_ms=8 * HOUR)
    assert (clock.zone_ms, clock.skew_ms, clock.zone_from) == (0, 8 * HOUR, "printed")


def test_a_zone_that_was_given_wins_over_pairs():
    (clock,) = clocks(facts(given_at("app.log", NOON + 8 * HOUR + 5)), rows(NOON), log_zone_ms=7 * HOUR)
    assert (clock.zone_ms, clock.skew_ms, clock.zone_from) == (7 * HOUR, HOUR + 5, "--log-zone")


def test_a_producer_id_of_another_transactional_id_is_no_pair():
    """Small producer ids occur in every cluster: a log of another one must not set the clock."""
    lines = given_at("app.log", NOON + 3 * HOUR, client_id="c", transactional_id="bills")
    (clock,) = clocks(facts(lines), rows(NOON))
    assert clock == Clock()
    lines = given_at("app.log", NOON + 3 * HOUR, client_id="c", transactional_id="orders")
    assert clocks(facts(lines), rows(NOON))[0].zone_ms == 3 * HOUR


def test_sources_without_pairs_take_the_zone_of_their_folder():
    lines = [
        *given_at("east/a.log", NOON + 9 * HOUR),
        line("east/b.log", NOON, EventKind.abort_called),
        *[
            line("west/c.log", NOON - 7 * HOUR, EventKind.producer_id_set, producer_id=7, producer_epoch=0),
            line("elsewhere/d.log", NOON, EventKind.abort_called),
        ],
    ]
    east, beside, west, elsewhere = clocks(facts(lines), rows(NOON))
    assert (east.zone_ms, west.zone_ms) == (9 * HOUR, -7 * HOUR)
    assert (beside.zone_ms, beside.zone_from, beside.pairs) == (9 * HOUR, "as east/a.log", 0)
    assert elsewhere == Clock(), "its neighbours don't agree"


def test_one_rollback_tells_no_zone_since_it_may_be_another_one():
    line_of = [line(SERVER, NOON - HOUR, EventKind.timeout_rollback, transactional_id="orders")]
    (clock,) = clocks(facts(line_of), aborts(NOON))
    assert (clock.zone_ms, clock.skew_ms) == (0, None)


def test_rollbacks_that_agree_tell_a_zone():
    at = [NOON, NOON + 1_000_000, NOON + 3_333_333]
    lines = [line(SERVER, time + 2 * HOUR + 4, EventKind.timeout_rollback, transactional_id="orders") for time in at]
    (clock,) = clocks(facts(lines), aborts(*at))
    assert (clock.zone_ms, clock.skew_ms, clock.pairs) == (2 * HOUR, 4, 3)


def test_hourly_rollbacks_of_which_the_cleaner_left_the_last_tell_no_zone():
    at = [NOON - hours * HOUR for hours in range(6)]
    lines = [line(SERVER, time, EventKind.timeout_rollback, transactional_id="orders") for time in reversed(at)]
    (clock,) = clocks(facts(lines), aborts(NOON))
    assert (clock.zone_ms, clock.skew_ms) == (0, None)


def test_one_rollback_does_not_set_the_clock_by_which_it_is_judged():
    line_of = [line(SERVER, NOON + 60_000, EventKind.timeout_rollback, transactional_id="orders")]
    assert clocks(facts(line_of), aborts(NOON)) == (Clock(),)


@pytest.mark.parametrize("count", [1, 5_000])
def test_many_shared_events_cost_no_more_than_enough_of_them(count):
    at = [NOON + number * 1_000 for number in range(count)]
    lines = facts(granted_at(SERVER, *[time + HOUR for time in at]))
    (clock,) = clocks(lines, rows(*at))
    assert clock.zone_ms == HOUR
    assert clock.pairs <= 1_000


def test_a_log_that_shows_a_time_in_utc_tells_its_zone_by_itself():
    lines = [
        line("app.log", NOON + 8 * HOUR + 3, EventKind.time_told, number=NOON),
        *given_at("app.log", NOON + 9 * HOUR + 5),
    ]
    (clock,) = clocks(facts(lines), rows(NOON))
    assert (clock.zone_ms, clock.skew_ms, clock.zone_from) == (8 * HOUR, HOUR + 5, "by its own lines")
    (clock,) = clocks(facts(lines[:1]), References())
    assert (clock.zone_ms, clock.skew_ms) == (8 * HOUR, None)
    (clock,) = clocks(facts(lines), rows(NOON), log_zone_ms=9 * HOUR)
    assert clock.zone_from == "--log-zone"


def rolled_back_at(*times: int) -> list:
    return [line(SERVER, at, EventKind.timeout_rollback, transactional_id="orders") for at in times]


def refused_at(*times: int, thrown: str = FENCED, **columns: object) -> list:
    return [line("client.log", at, EventKind.failure, thrown=thrown, **columns) for at in times]


def retried_at(at: int, name: str) -> list:
    return [line("client.log", at, EventKind.produce_retry, transactional_id=name)]


def clock_of_client(*rows: object) -> Clock:
    found = facts([*rows])
    paths = [one.path for one in found.sources]
    return clocks(found, References())[paths.index("client.log")]


def test_a_refusal_right_behind_the_only_rollback_of_its_id_tells_the_zone():
    clock = clock_of_client(*rolled_back_at(NOON), *refused_at(NOON + 8 * HOUR + 21_000, transactional_id="orders"))
    assert (clock.zone_ms, clock.zone_from, clock.skew_ms) == (8 * HOUR, "estimated", None)


def test_a_refusal_without_an_id_is_that_of_the_only_id_in_its_log():
    refused = refused_at(NOON - 5 * HOUR + 21_000)
    assert clock_of_client(*rolled_back_at(NOON), *retried_at(NOON - 5 * HOUR, "orders"), *refused).zone_ms == -5 * HOUR
    both = [*retried_at(NOON - 5 * HOUR, "orders"), *retried_at(NOON - 5 * HOUR, "bills"), *refused]
    assert clock_of_client(*rolled_back_at(NOON), *both).zone_ms == 0


@pytest.mark.parametrize(
    "rows",
    [
        [*rolled_back_at(NOON), *refused_at(NOON + 21_000, transactional_id="orders")],
        [*rolled_back_at(NOON), *refused_at(NOON + 8 * HOUR + 61_000, transactional_id="orders")],
        [*rolled_back_at(NOON), *refused_at(NOON + 8 * HOUR - 1_000, transactional_id="orders")],
        [*rolled_back_at(NOON), *refused_at(NOON + 15 * HOUR, transactional_id="orders")],
        [*rolled_back_at(NOON, NOON + HOUR), *refused_at(NOON + 8 * HOUR, transactional_id="orders")],
        [*rolled_back_at(NOON), *refused_at(NOON + 8 * HOUR, transactional_id="bills")],
        [*rolled_back_at(NOON), *refused_at(NOON + 8 * HOUR, transactional_id="orders", thrown=TIMED_OUT)],
    ],
    ids=["in utc", "too late", "too early", "no zone", "two rollbacks", "another id", "no refusal"],
)
def test_other_refusals_tell_no_zone(rows):
    assert clock_of_client(*rows).zone_ms == 0


def test_a_shared_grant_outweighs_a_refusal():
    grants = [*granted_at(SERVER, NOON - HOUR), *given_at("client.log", NOON + HOUR, transactional_id="orders")]
    refused = refused_at(NOON + 8 * HOUR + 21_000, transactional_id="orders")
    assert clock_of_client(*grants, *rolled_back_at(NOON), *refused).zone_ms == 2 * HOUR
