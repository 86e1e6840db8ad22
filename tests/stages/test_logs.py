"""Logs read one by one, anywhere and in any order, and united: the same as a capture's logs read here in a loop."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.item import Item
from kafkatx.evidence.log_reading import FileFacts, read_log
from kafkatx.stages.logs import log_items, newest_time, read_logs, united_logs
from kafkatx.stages.models import open_captures
from kafkatx.text.events import LogFacts
from kafkatx.text.logs import thinning
from tests.evidence import FIXTURES
from tests.text.logs.reading import plain_events

CASES = ("k39-fenced", "k39-unresolved", "k4-clients", "f-other-clients", "pages/timeout_above_the_limit.md")
"""Logs of brokers and of clients in several languages, blocks of settings, files of settings, parts of one page."""

CLIENT = "2026-11-21 10:28:59.{:03d} [main] INFO  org.apache.kafka.clients.producer.KafkaProducer - [Producer clientId=p, transactionalId={}] Aborting incomplete transaction\n"  # noqa: E501
BLOCK = "2026-11-21 10:28:58.120 [main] INFO  org.apache.kafka.clients.producer.ProducerConfig - ProducerConfig values:\n\tclient.id = p\n\tlinger.ms = {}\n\ttransactional.id = t\n"  # noqa: E501


def capture_of(path: Path) -> Capture:
    (capture,) = open_captures([path])
    return capture


def elsewhere(capture: Capture, item: Item) -> FileFacts:
    """One text as a process of its own reads it: what goes there and comes back is pickled."""
    read: FileFacts = pickle.loads(pickle.dumps(read_log(pickle.loads(pickle.dumps(item)))))
    return read.within(capture)


def here(capture: Capture) -> tuple[LogFacts, list[Any]]:
    return read_logs(capture, lambda path, size: None)


def as_values(facts: LogFacts) -> tuple[object, ...]:
    return facts.sources, facts.events.tolist(), facts.strings, facts.traces, facts.settings


@pytest.mark.parametrize("name", CASES)
def test_texts_that_were_read_elsewhere_in_any_order_unite_to_what_is_read_here(name):
    capture = capture_of(FIXTURES / name)
    items = log_items(capture)
    read = {item.key: elsewhere(capture, item) for item in reversed(items)}
    parts = [read[item.key] for item in items]
    facts, coverage = here(capture)
    assert as_values(united_logs(parts)) == as_values(facts)
    assert [part.coverage for part in parts] == coverage
    assert len(items) > 1
    assert len(facts.events)


def test_codes_and_sources_of_a_capture_lead_to_what_each_text_says(tmp_path):
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.log").write_text(CLIENT.format(1, name) + CLIENT.format(2, "shared"))
    facts, _ = here(capture_of(tmp_path))
    told = [(facts.sources[event["source"]].path, event["transactional_id"]) for event in plain_events(facts)]
    assert told == [(str(tmp_path / f"{name}.log"), said) for name in "abc" for said in (name, "shared")]
    assert sorted(facts.strings) == sorted(set(facts.strings))


def test_settings_lead_to_the_text_they_stand_in(tmp_path):
    (tmp_path / "a.log").write_text(BLOCK.format(1) + BLOCK.format(2) + CLIENT.format(1, "t"))
    (tmp_path / "b.properties").write_text("transactional.id=t\nlinger.ms=3\n# consumer\nmax.poll.records=4\n")
    (tmp_path / "c.log").write_text(BLOCK.format(5) + CLIENT.format(1, "t"))
    facts, coverage = here(capture_of(tmp_path))
    values = [one for one in facts.settings if one.name in ("linger.ms", "max.poll.records")]
    places = [(Path(facts.sources[one.source].path).name, one.block, one.value) for one in values]
    assert places == [
        ("a.log", 0, "1"), ("a.log", 1, "2"), ("b.properties", 0, "3"), ("b.properties", 1, "4"), ("c.log", 0, "5")
    ]  # fmt: skip
    assert coverage[1].note == "3 settings"


def test_a_text_that_is_gone_is_covered_and_shifts_no_other(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.log").write_text(CLIENT.format(1, name))
    capture = capture_of(tmp_path)
    (tmp_path / "b.log").unlink()
    facts, coverage = here(capture)
    assert [(Path(entry.path).name, entry.status) for entry in coverage] == [
        ("a.log", "read"), ("b.log", "unreadable"), ("c.log", "read")
    ]  # fmt: skip
    told = [(Path(facts.sources[one["source"]].path).name, one["transactional_id"]) for one in plain_events(facts)]
    assert told == [("a.log", "a"), ("c.log", "c")]


def test_what_is_kept_of_a_text_does_not_depend_on_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(thinning.Thinning.__init__, "__defaults__", (2, 4))
    for name in ("a", "b"):
        (tmp_path / f"{name}.log").write_text("".join(CLIENT.format(n, "t") for n in range(9)))
    facts, coverage = here(capture_of(tmp_path))
    assert facts.events["line"].tolist() == [1, 2, 8, 9] * 2
    assert facts.events["repeats"].tolist() == [0, 5, 0, 0] * 2
    assert [entry.note for entry in coverage] == [
        "log of a client: 9 lines, 9 of them matter; times without a zone"
    ] * 2


def test_progress_names_each_text_before_it_is_read(tmp_path):
    (tmp_path / "a.log").write_text(CLIENT.format(1, "a"))
    (tmp_path / "b.properties").write_text("transactional.id=t\nacks=all\n")
    seen: list[tuple[str, int]] = []
    facts, _ = read_logs(capture_of(tmp_path), lambda path, size: seen.append((path, size)))
    assert seen == [(str(path), path.stat().st_size) for path in sorted(tmp_path.iterdir())]
    assert newest_time(facts) == facts.sources[0].last_at > 0


def test_a_capture_without_texts_says_nothing():
    facts, coverage = here(Capture("empty", None, "", "", []))
    assert as_values(facts) == as_values(LogFacts())
    assert (coverage, newest_time(facts)) == ([], -1)
