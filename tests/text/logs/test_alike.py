"""Long logs of any layout: what is read as one of a kind, or was read before, is what it is read by itself."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.text.logs import alike, reading, repeated
from kafkatx.text.logs.matching import patterns
from kafkatx.text.logs.printed_times import other_time, times_in
from kafkatx.text.logs.stamps import read_stamp
from tests.benchmarks import repeated_log
from tests.evidence import FIXTURES
from tests.text.logs.reading import plain_events, read_facts

START = datetime(2026, 11, 21, 22, 30)
THREAD = "kafka-producer-network-thread | producer-{n}"
LOGGER = "org.apache.kafka.clients.producer.internals.TransactionManager"
CLIENT = "[Producer clientId=producer-{n}, transactionalId=orders-{n}] "
LAYOUTS: dict[str, Callable[..., str]] = {
    "logback": lambda t, lv, n, m: f"{t:%F %T}.{t:%f} [{THREAD}] {lv:5} {LOGGER} - {CLIENT}{m}",
    "log4j": lambda t, lv, n, m: f"[{t:%F %T},{t:%f}] {lv} {CLIENT}{m} ({LOGGER})",
    "level first": lambda t, lv, n, m: f"{lv:5} {t:%F %T},{t:%f} [{THREAD}] {LOGGER} - {CLIENT}{m}",
    "spring boot": lambda t, lv, n, m: (
        f"{t:%FT%T}.{t:%f}Z {lv:>5} 7 --- [app] [er | producer-{n}] o.a.k.c.p.S : {CLIENT}{m}"
    ),
    "flink": lambda t, lv, n, m: f"{t:%F %T},{t:%f} {lv:5} {LOGGER} [] - {CLIENT}{m}",
    "container": lambda t, lv, n, m: (
        f"{t - timedelta(hours=1):%FT%T}.{t:%f}183Z stdout F {t:%F %T}.{t:%f} [{THREAD}] {lv:5} {LOGGER} - {CLIENT}{m}"
    ),
    "pod": lambda t, lv, n, m: f"[pod/a-{n % 2}/app] {t:%F %T}.{t:%f} [{THREAD}] {lv:5} {LOGGER} - {CLIENT}{m}",
    "json": lambda t, lv, n, m: (
        f'{{"@timestamp":"{t:%FT%T}.{t:%f}Z","level":"{lv}","logger_name":"{LOGGER}","message":"{CLIENT}{m}"}}'
    ),
    "librdkafka": lambda t, lv, n, m: (
        f"%{3 + n % 4}|1795256{n % 1000:03d}.{t:%f}|TXN|orders#producer-{n}| [thrd:main]: {m}"
    ),
    "python": lambda t, lv, n, m: f"{t:%F %T},{t:%f} - aiokafka.producer.sender - {lv} - {m}",
    "no date": lambda t, lv, n, m: f"{t:%T}.{t:%f} [{THREAD}] {lv:5} {LOGGER} - {CLIENT}{m}",
}
LOOKED_AT = {"log4j": 1.1, "pod": 1.1, "no date": 1.1}
"""Of layouts whose lines are not (all) read as kinds, the share that may be looked at one by one."""
TAILS = (
    "",
    "",
    "",
    "\njava.lang.IllegalStateException: no {n}\n\tat org.apache.kafka.clients.producer.KafkaProducer.send(K.java:9)",
    "\norg.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms\n\tat a.b.C.d(C.java:{n})",
    "\n\tat a.b.C.d(C.java:1)\nCaused by: org.apache.kafka.common.errors.ProducerFencedException: newer\n\t... 3 more",
)
NUMBERS = {"producer_id", "offset", "number", "producer_epoch", "other_epoch", "correlation_id", "node", "partition"}


def test_what_is_learnt_is_learnt_once_when_enough_was_met_and_of_no_more_than_so_many(monkeypatch):
    monkeypatch.setattr(alike, "MOST_KINDS", 2)
    learnt: list[bytes] = []
    kinds: alike.Learnt[bytes] = alike.Learnt(lambda one, key: learnt.append(one) or (None if key == b"b" else one))
    met = [[kinds.of(b"%s%d" % (key, number), key) for key in (b"a", b"b", b"c")] for number in range(alike.MET + 3)]
    assert met[: alike.MET] == [[None, None, None]] * alike.MET
    assert met[alike.MET :] == [[b"a%d" % alike.MET, None, None]] * 3
    assert learnt == [b"a%d" % alike.MET, b"b%d" % alike.MET]


def messages(chosen: random.Random, count: int) -> list[Callable[[random.Random], str]]:
    """Makers of lines: texts of the catalogue with other values each time."""

    def made(pieces: tuple[str, ...], fields: tuple[str, ...]) -> Callable[[random.Random], str]:
        def make(values: random.Random) -> str:
            text = pieces[0]
            for piece, name in zip(pieces[1:], (*fields, *("-" for _ in pieces)), strict=False):
                number = values.randrange(10 ** values.choice((2, 3, 3, 6)))
                told = {"topic_partition": f"orders-{number % 30}", "producer": f"producerId={number}, epoch=3"}
                text += (str(number) if name in NUMBERS else told.get(name, f"orders-{number % 9}")) + piece
            return text

        return make

    found = [made(pattern.template.pieces, pattern.entry.fields) for pattern in chosen.sample(patterns(), count)]
    words = ("code=_{}", "api_key={}, x", "KafkaError code: _{} in 9", "initTransactions() done in {} ms", "END_TXN {}")
    return found + [lambda values, word=word: word.format(values.randrange(999)) for word in words]


def generated(layout: Callable[..., str], seed: int) -> str:
    """A log of some hundred kB, with lines of many threads, traces that repeat, and days that end."""
    chosen = random.Random(seed)
    makers = messages(chosen, 6)
    at, lines = START, []
    for _ in range(1800):
        at += timedelta(milliseconds=chosen.randrange(5_000))
        n, level = chosen.randrange(1, 14), chosen.choice(("DEBUG", "INFO", "INFO", "INFO", "WARN"))
        made = layout(at, level, n, chosen.choice(makers)(chosen))
        made = made.replace("{n}", str(n)).replace(f"{at:%f}", f"{at:%f}"[:3])
        lines.append(made + chosen.choice(TAILS).replace("{n}", str(n % 3)))
    return "\n".join(lines) + "\n"


def both(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Hold what is read against the same without kinds; return how many entries each way has looked at by itself."""
    looked: list[int] = []
    of_entry = reading.event_of

    def counted(entry, strings):
        looked[-1] += 1
        return of_entry(entry, strings)

    monkeypatch.setattr(reading, "event_of", counted)
    looked.append(0)
    fast = read_facts(path)
    monkeypatch.setattr(alike, "MET", 1 << 40)
    monkeypatch.setattr(repeated, "MOST_REMEMBERED", 0)
    looked.append(0)
    slow = read_facts(path)
    assert (fast.sources, fast.settings) == (slow.sources, slow.settings)
    assert (fast.strings, fast.traces) == (slow.strings, slow.traces)
    assert plain_events(fast) == plain_events(slow)
    return looked[0], looked[1]


@pytest.mark.parametrize("name", LAYOUTS)
def test_lines_of_a_kind_are_read_like_each_of_them(name, tmp_path, monkeypatch):
    path = tmp_path / "app.log"
    path.write_text(generated(LAYOUTS[name], seed=len(name)))
    looked, all_of_it = both(path, monkeypatch)
    assert looked < all_of_it * LOOKED_AT.get(name, 1)


@pytest.mark.parametrize("kind", ["client", "flink"])
def test_recorded_logs_of_clients_that_repeat_are_read_as_they_are(kind, tmp_path, monkeypatch):
    path = repeated_log.write(tmp_path / "client.log", 3 << 20, kind)
    looked, all_of_it = both(path, monkeypatch)
    assert looked < all_of_it / 10


LOGS = sorted(path for path in FIXTURES.glob("*/logs/client-*.log") if path.stat().st_size > 1 << 12)


def test_recorded_logs_of_clients_one_behind_the_other_are_read_as_they_are(tmp_path, monkeypatch):
    path = tmp_path / "all.log"
    path.write_bytes(b"".join(log.read_bytes() for log in LOGS))
    assert path.stat().st_size > 1 << 18
    both(path, monkeypatch)


def test_a_line_at_the_border_of_two_windows_is_told_once(tmp_path):
    facts = read_facts(repeated_log.write(tmp_path / "client.log", 3 << 20, "flink"))
    assert len(set(facts.events["position"].tolist())) == len(facts.events)


@pytest.mark.parametrize("time", ["2026-11-21 10:23:51,003", "2026-11-21T10:23:51.003118Z", "1795256939.072"])
def test_times_as_arrays_are_those_of_the_stamp(time):
    chosen = random.Random(time)
    for _ in range(200):
        other = other_time(time.rstrip("Z"), chosen)
        (found,) = times_in(other)
        times = alike.Times.told_by([(other, read_stamp(found[0]).at)], [found])
        assert times is not None
        assert times.read(*of_line(other)).tolist() == [times.of(other)] == [read_stamp(other).at]


def of_line(text: str) -> tuple[Any, Any]:
    return np.frombuffer(text.encode(), np.uint8), np.zeros(1, np.int64)


@pytest.mark.parametrize("time", ["2026-02-29 10:23:51,003", "2026-11-21 24:23:51,003", "2026-13-21 10:23:51,003"])
def test_what_is_no_time_is_none(time):
    times = alike.Times(0, is_dated=True)
    assert times.read(*of_line(time)).tolist() == [-1]


LINES = st.lists(
    st.sampled_from(
        [b"2026-11-21 10:23:51,003 INFO a", b"\tat a.b(C.java:1)", b"", b"%7|1|x", b"%6|1|x", b"7", b"Caused by: x"]
    ),
    max_size=30,
)


class AWindow:
    """In place of what a window shows: which of its lines belong to the one above is told by their first byte."""

    def __init__(self, data: bytes) -> None:
        self.data, self.asked = data, 0

    def belongs(self, line: bytes) -> bool:
        self.asked += 1
        return line[:1] in (b"", b"\t", b"C") or line.startswith(b"%6")


@given(lines=LINES, is_ended=st.booleans(), number=st.integers(0, 31), reach=st.integers(0, 200))
def test_lines_of_a_window_begin_entries_as_each_does_alone_and_are_asked_once(lines, is_ended, number, reach):
    data = b"\n".join(lines) + b"\n" * is_ended
    window = AWindow(data)
    known: dict[bytes, bool] = {}
    found = alike.CutLines(window, known)
    whole = data.split(b"\n")[:-1]
    begins = [not AWindow(b"").belongs(line) for line in whole]
    assert [found.begins(at) for at in range(len(whole) + 2)] == [*begins, False, False]
    farthest = found.starts[min(number, len(whole))] + reach
    expected = [at for at in range(number + 1, len(whole)) if begins[at] and found.starts[at] <= farthest]
    assert found.next_begin(number, farthest) == next(iter(expected), -1)
    asked = window.asked
    assert asked <= len(set(whole))
    again = alike.CutLines(window, known)
    assert [again.begins(at) for at in range(len(whole))] == begins
    assert window.asked == asked
