"""Logs of recorded clusters beside their rows: what logs may change, and what they must not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kafkatx.histories.build import with_logs
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.stages.models import build_models, open_captures
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Verdict
from kafkatx.text.events import LogFacts
from tests.evidence import broker_folders, fixtures

CASES = [
    "f-flink-sink", "f-other-clients", "f-spring-prefix", "k011-timeout-late", "k27-client-versions", "k39-fenced",
    "k39-unresolved", "k4-librdkafka", "k4-silent-failure", "k4-tv2-fenced",
]  # fmt: skip
INDIA_MS = (5 * 60 + 30) * 60_000


@cache
def recorded(case: str) -> tuple[CaptureModel, LogFacts]:
    """The model of a case's disks alone, and what its logs say."""
    folder = fixtures() / case
    (told,) = build_models(open_captures([*broker_folders(folder), folder / "logs"]))
    (alone,) = build_models(open_captures(broker_folders(folder)))
    return alone.model, told.model.logs.facts


@pytest.mark.parametrize("case", CASES)
def test_logs_may_strengthen_what_rows_prove_and_never_turn_it(case):
    alone, logs = recorded(case)
    told, before = with_logs(alone, logs).ends.rows(), alone.ends.rows()
    proved = before.verdict == Verdict.proved
    assert (told.ended_by[proved] == before.ended_by[proved]).all()
    kept = told.ended_by == before.ended_by
    assert (told.verdict[kept] >= before.verdict[kept]).all()
    turned = ~kept & (before.ended_by != EndedBy.unknown)
    assert not turned.any(), "of these cases the rows told rightly what they told at all"


@pytest.mark.parametrize("case", CASES)
def test_the_zone_of_clients_does_not_matter(case):
    """All clients' logs that name no zone, printed in +05:30, tell the same model: grants tell the zone."""
    alone, logs = recorded(case)
    events = logs.events.copy()
    clients = [
        number for number, source in enumerate(logs.sources) if source.side != Side.broker and not source.is_zoned
    ]
    moved = np.isin(events["source"], clients) & (events["at"] >= 0) & (events["kind"] != EventKind.time_told)
    events["at"][moved] += INDIA_MS
    events = events[events["kind"] != EventKind.time_told]
    sources = [
        replace(source, first_at=source.first_at + INDIA_MS, last_at=source.last_at + INDIA_MS)
        if number in clients and source.first_at >= 0
        else source
        for number, source in enumerate(logs.sources)
    ]
    there = with_logs(alone, replace(logs, events=events, sources=sources))
    zoned = {clock.zone_ms for number, clock in enumerate(there.logs.clocks) if number in clients and clock.pairs}
    assert zoned <= {INDIA_MS}
    here = with_logs(alone, replace(logs, events=logs.events[logs.events["kind"] != EventKind.time_told]))
    for column in ("ended_by", "verdict", "reason"):
        assert getattr(there.ends.rows(), column).tolist() == getattr(here.ends.rows(), column).tolist()


@pytest.mark.parametrize("case", CASES)
def test_every_producer_id_in_a_log_is_that_of_the_id_which_the_rows_gave_it_to(case):
    alone, logs = recorded(case)
    told = with_logs(alone, logs).logs
    rows = zip(alone.initialisations["producer_id"].tolist(), alone.initialisations["id_code"].tolist(), strict=True)
    owners = {producer: alone.transactional_id(code) for producer, code in rows}
    given = [(client, one) for client in told.clients if client.owns_producer_ids for one in client.initialisations]
    assert given
    for client, one in given:
        if one.producer_id in owners:
            assert client.transactional_id == owners[one.producer_id]
    shown = {int(row) for row in told.of_kind(EventKind.producer_id_set) if told.events["producer_id"][row] >= 0}
    assert shown == {one.row for client in told.clients for one in client.initialisations}


@pytest.mark.parametrize("case", CASES)
def test_clocks_of_one_host_agree(case):
    """Brokers and clients of a case ran on one machine, in UTC; an answer may have been slow."""
    alone, logs = recorded(case)
    for clock in with_logs(alone, logs).logs.clocks:
        assert clock.zone_ms == 0
        assert abs(clock.skew_ms or 0) < 1_000


@pytest.mark.parametrize(
    ("case", "transactional_id"),
    [("k39-fenced", "payments-eu-1"), ("k4-tv2-fenced", "payments-eu-1"), ("k27-client-versions", "fence-1-1")],
)
def test_two_instances_are_told_apart_by_the_log_each_wrote(case, transactional_id):
    alone, logs = recorded(case)
    model = with_logs(alone, logs)
    taken = np.flatnonzero(model.ends.ended_by == EndedBy.new_instance).tolist()
    codes = model.transactions["id_code"]
    (row,) = [row for row in taken if model.transactional_id(int(codes[row])) == transactional_id]
    seen, clients = model.ends.witnesses, model.logs.clients
    old, new = clients[int(seen.instance[row])], clients[int(seen.new_instance[row])]
    assert model.ends.verdict[row] == Verdict.proved
    assert old.source != new.source
    assert {old.transactional_id, new.transactional_id} == {transactional_id}
    assert model.logs.at(int(seen.refusal[row])) > model.logs.at(int(seen.taken_over[row]))
