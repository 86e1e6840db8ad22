"""Text that was cut, repeated, turned round or put into one file proves nothing by what it lacks.

Dumps and logs of recorded cases, healthy ones and incidents, after some careless acts by lot: they are read without an
error, and nothing is claimed as likely or proved that the whole evidence does not carry.
"""

import os
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kafkatx import __version__
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from tests.cases.judging import diagnosed
from tests.cases.mangling import DUMPS, KINDS, LOGS, ONE_FILE, Finding, Mangling, false_claims, laid, mangled, texts
from tests.cases.mangling import write as write_texts
from tests.evidence import fixtures

CASES = (
    "c3-atomicity",
    "c3-stuck-prepare",
    "f-spring-prefix",
    "k10-hanging",
    "k20-expired",
    "k39-codecs",
    "k39-healthy",
    "k39-unresolved",
    "k4-clients",
    "k4-tv2-fenced",
)
"""Ten cases of seven releases, with lines of both eras of the tool."""
EXAMPLES = int(os.environ.get("KAFKATX_EXAMPLES", "6"))
"""Layouts of each case, the same in each run; with 300 and more by hand others."""
THOROUGH = settings(
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="KAFKATX_EXAMPLES" not in os.environ,
)
SIZES = (1, 5, 10, 30, 100, 300, 500, 800)
EVIDENCE = {"dumps": (DUMPS,), "logs": (LOGS,), "both": (DUMPS, LOGS)}
WHERE = {
    "dumps": ("", "__transaction_state", "-0/", "-1/"),
    "logs": ("", "client", "server"),
    "both": ("", "__transaction_state", DUMPS, LOGS),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_careless_makes_no_claims(name: str) -> None:
    @THOROUGH
    @given(st.data())
    def check(data: st.DataObject) -> None:
        kind = data.draw(st.sampled_from(sorted(EVIDENCE)))
        acts = data.draw(st.lists(_acts(kind), min_size=1, max_size=3))
        layout = data.draw(st.sampled_from(ONE_FILE))
        assert list(false_claims(_whole(name), _left(name, kind, acts, layout))) == []

    check()


KNOWN = (
    ("k39-client-aborts", "dumps", Mangling("line", "", 514, 5), "apart", "the record of a marker"),
    ("k28-sequence", "dumps", Mangling("moved", "", 811, 300, 942), "one", "a record without its batch"),
    ("c3-storm", "both", Mangling("moved", "__transaction_state", 446, 300, 902), "apart", "states turned round"),
    ("k10-unsupported-format", "dumps", Mangling("repeated", "", 832, 300, 760), "one", "states twice"),
    ("k39-codecs", "both", Mangling("elided", "-1/", 428, 300, 607), "one", "data of two transactions run together"),
    ("k20-expired", "dumps", Mangling("tail", "-0/", 250, 1, 347), "apart", "the last line"),
    ("k4-tv2-fenced", "both", Mangling("halved", "kafka-dump-log", 287, 800, 20), "one by logs", "half a line"),
    ("k4-clients", "dumps", Mangling("tail", "-1/", 665, 30, 892), "one", "the last states"),
    ("k20-expired", "logs", Mangling("every", "logs/", 29, 10, 157), "apart", "headings of settings"),
    ("k39-unresolved", "logs", Mangling("every", "client", 981, 10, 161), "apart", "an ERROR line above its trace"),
    ("k4-shared-producer", "logs", Mangling("repeated", "client", 253, 800, 818), "one", "two logs in one file"),
)
"""Acts that once led to a false claim, and what is lost or twofold by them."""


@pytest.mark.parametrize(("name", "kind", "act", "layout", "_what"), KNOWN, ids=[f"{one[0]}-{one[4]}" for one in KNOWN])
def test_acts_that_once_misled_do_so_no_more(name: str, kind: str, act: Mangling, layout: str, _what: str) -> None:
    assert list(false_claims(_whole(name), _left(name, kind, [act], layout))) == []


def test_false_claims_would_be_seen() -> None:
    whole = _whole("k39-unresolved")
    loud = [one for one in whole if one["severity"] != "info" and one["rule"] != "unexplained_failure"]
    assert loud
    assert list(false_claims(whole, loud)) == []
    assert len(list(false_claims([], loud))) == len([one for one in loud if one["verdict"] != "possible"])


@st.composite
def _acts(draw: st.DrawFn, kind: str) -> Mangling:
    part = st.integers(0, 999)
    return Mangling(
        draw(st.sampled_from(sorted(KINDS))), draw(st.sampled_from(WHERE[kind])), draw(part),
        draw(st.sampled_from(SIZES)), draw(part),
    )  # fmt: skip


def _left(name: str, kind: str, acts: list[Mangling], layout: str) -> list[Finding]:
    with tempfile.TemporaryDirectory() as folder:
        return _told(write_texts(laid(mangled(texts(name, EVIDENCE[kind]), acts), layout), Path(folder)))


def _told(paths: list[Path]) -> list[Finding]:
    try:
        found: list[Finding] = document(diagnose(paths), __version__)["findings"]
    except NothingReadableError:
        return []
    return found


@cache
def _whole(name: str) -> list[Finding]:
    """What any kind of the case's evidence carries, nothing lost of it."""
    case = fixtures() / name
    found = [one for kind in ("disk", "logs", "text", "all") for one in diagnosed(case, kind)["findings"]]
    return [*found, *_told([case / DUMPS])]
