import numpy as np

from kafkatx.kernels.rows import EVENT
from kafkatx.text.events import Thrown, Trace
from kafkatx.text.logs import reading
from kafkatx.text.logs.strings import LONGEST_STRING, Strings
from tests.text.logs.reading import read_text

LINE = (
    "[2026-11-21 10:23:51,003] INFO [TransactionCoordinator id=1] Initialized transactionalId {} with producerId {} and"
)
REST = " producer epoch 0 on partition __transaction_state-1 (kafka.coordinator.transaction.TransactionCoordinator)\n"


def test_equal_strings_share_a_code_and_empty_ones_have_none():
    strings = Strings()
    assert [strings.code(text) for text in ("a", "b", "a", "")] == [0, 1, 0, -1]
    assert strings.texts() == ["a", "b"]


def test_equal_traces_share_a_code():
    strings = Strings()
    traces = [Trace((Thrown("a.B", text),)) for text in ("x", "y", "x")]
    assert [strings.trace_code(trace) for trace in (*traces, None)] == [0, 1, 0, -1]
    assert strings.traces == traces[:2]


def test_long_strings_are_cut():
    strings = Strings()
    strings.code("ä" * LONGEST_STRING)
    assert len(strings.texts()[0].encode()) <= LONGEST_STRING + 2


def test_only_what_events_point_to_moves():
    strings, common = Strings(), Strings()
    common.code("there")
    codes = [strings.code(text) for text in ("kept", "gone", "also kept")]
    events = np.zeros(3, EVENT)
    for column in EVENT.names:
        if column.endswith("_code"):
            events[column] = -1
    events["topic_code"] = [codes[2], codes[0], codes[2]]
    events["trace_code"] = [-2, strings.trace_code(Trace((Thrown("a.B", ""),))), -1]
    strings.move(events, common)
    assert [common.texts()[code] for code in events["topic_code"]] == ["also kept", "kept", "also kept"]
    assert "gone" not in common.texts()
    assert events["trace_code"].tolist() == [-2, 0, -1]
    assert set(events["group_code"].tolist()) == {-1}


def test_a_log_with_a_new_name_in_every_line_forgets_those_of_dropped_events(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_STRINGS", 30)
    monkeypatch.setattr("kafkatx.text.logs.windows.BLOCK", 4096)
    events = read_text(tmp_path, "".join(LINE.format(f"id-{n}", n) + REST for n in range(300)))
    assert [(event["transactional_id"], event["producer_id"]) for event in events] == [
        (f"id-{n}", n) for n in range(300)
    ]
