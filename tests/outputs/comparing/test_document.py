"""Documents of diagnoses read again: whole ones give what was written, and any other one is refused in one sentence."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kafkatx
from kafkatx.findings.diagnosis import FailureCounts, Selected
from kafkatx.findings.finding import NotCheckable
from kafkatx.outputs.comparing import as_json
from kafkatx.outputs.comparing.compared import compare
from kafkatx.outputs.comparing.document import begins_document, document_of, is_document, read_document
from kafkatx.outputs.comparing.json_values import DamagedDocumentError
from kafkatx.outputs.diagnosis_json import to_json
from kafkatx.terms.verdicts import Severity
from kafkatx.words.explained import Remedy
from tests.evidence import fixtures
from tests.outputs.comparing.diagnoses import ORDERS, PAYMENTS, diagnosis, found, line, place, program_log

REMEDY = Remedy("Set it", "client", "acks", "1", "all", "the default", "kafka-configs.sh", "a restart", True)
GAP = NotCheckable("silent_failure", "the cluster", "logs of clients")
WHOLE = diagnosis(
    found("a", places=(place(), line()), remedies=(REMEDY,), count=3, has_zone=False, facts={"at": "2026-11-21"}),
    found("b", severity=Severity.info, caused_by="a", minute=None, **PAYMENTS, **ORDERS),
    files=(program_log(),),
    gaps=(GAP,),
    failures=FailureCounts(3, 1, 1, 1),
    selected=Selected(2, 5, True, True),
)
TEXT = to_json(WHOLE, "1")
JUNK = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})


def test_what_is_read_is_what_was_written():
    read = read_document(TEXT.encode())
    assert (read.examined, read.failures, read.is_filtered) == (WHOLE.examined, WHOLE.failures, True)
    assert read.coverage == tuple(WHOLE.coverage)
    assert read.not_checkable == (("capture", GAP),)
    first, second = read.findings
    assert (first.id, first.key, first.cluster_id) == ("a", WHOLE.findings[0].key, "cluster-1")
    assert first.finding.remedies == (REMEDY,)
    assert (first.finding.has_zone, first.finding.count, first.finding.moment) == (False, 3, 1795219200000)
    assert [(one.source, one.topic, one.offset) for one in first.places] == [
        ("orders-0/x.log", "orders", 5),
        ("logs/app.log", None, None),
    ]
    assert (second.caused_by, second.finding.since, second.finding.producer_epoch) == ("a", None, 0)
    assert second.finding.severity is Severity.info


def test_a_recorded_case_is_read_whole():
    told = kafkatx.diagnose([fixtures() / "k39-fenced"])
    read = document_of(told)
    assert [one.key for one in read.findings] == [one.key for one in told.findings]
    assert [one.finding.columns() for one in read.findings] == [one.finding.columns() for one in told.findings]
    assert len(read.coverage) == len(told.coverage)


def test_a_document_is_told_by_its_beginning_or_by_all_of_its_fields():
    assert begins_document(TEXT[:60].encode())
    assert begins_document(b'\xef\xbb\xbf{"kafkatx" :"0.1.0"')
    sorted_by_a_tool = json.dumps(json.loads(TEXT), sort_keys=True).encode()
    assert not begins_document(sorted_by_a_tool)
    assert is_document(sorted_by_a_tool)
    for other in (b'{"time": 1}\n{"time": 2}\n', b'{"level": "ERROR"}', b"[]", b"no", b"\xff", b"[" * 100_000):
        assert not begins_document(other)
        assert not is_document(other)


def without(name: str) -> bytes:
    whole = json.loads(TEXT)
    del whole[name]
    return json.dumps(whole).encode()


def wrong(value: Any, *path: Any) -> bytes:
    whole = here = json.loads(TEXT)
    for name in path[:-1]:
        here = here[name]
    here[path[-1]] = value
    return json.dumps(whole).encode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (TEXT[: len(TEXT) // 2].encode(), "damaged or cut in line"),
        (TEXT.encode().replace(b"capture", b"capt\xffre", 1), "no UTF-8"),
        (b'{"kafkatx": ' + b"[" * 200_000, "nested too deep"),
        (b'{"kafkatx": ' + b'{"a":' * 20_000 + b"1" + b"}" * 20_001, "nested too deep"),
        (b'{"kafkatx": "1", "schema": 2}', "no document of `kafkatx diagnose`"),
        (b'{"kafkatx": NaN}', "a number that is none"),
        (b'{"kafkatx": ' + b"9" * 5_000 + b"}", "a number that is none"),
        (without("coverage"), "no document of `kafkatx diagnose`"),
        (without("not_checkable"), "not_checkable is missing: it must be a list"),
        (wrong(1, "schema"), "it has schema 1, and this release compares schema 2"),
        (wrong("2", "schema"), "schema is not an integer (2)"),
        (wrong("fatal", "findings", 1, "severity"), "findings[1].severity is not one of info, warning, error (fatal)"),
        (wrong(True, "findings", 0, "count"), "findings[0].count is not an integer (true or false)"),
        (wrong(1 << 70, "findings", 0, "partition"), "findings[0].partition is not an integer (a number)"),
        (wrong(-1, "findings", 0, "count"), "findings[0].count is not a number of things (a number)"),
        (wrong("\x1b[31mlate", "findings", 0, "from"), "findings[0].from is not a time (\\x1b[31mlate)"),
        (wrong(["x"], "findings", 0), "findings[0] is not an object (a list)"),
        (wrong("x" * 999, "coverage", 0, "bytes"), f"coverage[0].bytes is not an integer ({'x' * 60}...)"),
    ],
)
def test_what_is_no_whole_document_is_refused_in_one_sentence(data, words):
    with pytest.raises(DamagedDocumentError) as error:
        read_document(data)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert "\x1b" not in str(error.value)


@settings(max_examples=60)
@given(st.data())
def test_whatever_stands_in_it_is_refused_or_compared(data):
    """A value of a document is another one, or a stretch of its text is gone."""
    whole = json.loads(TEXT)
    here: Any = whole
    while isinstance(here, dict | list) and here:
        keys = list(here) if isinstance(here, dict) else range(len(here))
        name = data.draw(st.sampled_from(list(keys)))
        if not here[name] or not isinstance(here[name], dict | list) or data.draw(st.integers(0, 4)) == 0:
            here[name] = data.draw(JUNK)
            break
        here = here[name]
    text = json.dumps(whole)
    if data.draw(st.booleans()):
        start = data.draw(st.integers(0, len(text)))
        text = text[:start] + text[start + data.draw(st.integers(1, 20)) :]
    try:
        read = read_document(text.encode())
    except DamagedDocumentError:
        return
    assert json.loads(as_json.to_json(compare(read, read_document(TEXT.encode())), "1"))
