"""The page: whole, harmless, loading nothing, and saying what the JSON document says."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from kafkatx.outputs.chart_words import time_ticks
from kafkatx.outputs.page.drawing import offset_ticks
from kafkatx.outputs.page.views import advises_the_same
from kafkatx.terms.printable import printable
from tests.cases.commands import on_a_terminal, run
from tests.evidence import fixtures
from tests.repeats import together
from tests.rules.cluster import Cluster

VOID = {"meta", "br", "line", "circle", "rect", "path", "link", "img", "input", "hr"}
CASE = fixtures() / "k39-fenced"
HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\u202e"
MOST_BYTES = 5_000_000


class Page(HTMLParser):
    """What a browser would make of it: elements opened and closed in order, ids, links and the text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.loaded: list[str] = []
        self.said: list[str] = []
        self.scripts: list[str] = []
        self.policy = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"]] if given.get("id") else []
        self.links += [given["href"]] if tag == "a" and given.get("href") else []
        self.loaded += [name for name in given if name in ("src", "srcset", "xlink:href", "style") or name[:2] == "on"]
        self.loaded += [given["href"] or ""] if tag != "a" and "href" in given else []
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.said).split())


def page_of(*paths: object) -> tuple[Page, bytes]:
    result = run("report", *map(str, paths))
    assert result.code == 0, result.err
    return Page(result.out), result.raw


def flat(text: str) -> str:
    return " ".join(printable(text).split())


def check_harmless(page: Page, raw: bytes) -> None:
    """It is one whole document that loads nothing, and every link leads to a place in it."""
    assert not page.loaded
    assert len(set(page.ids)) == len(page.ids)
    assert not [link for link in page.links if link[0] != "#" or link[1:] not in page.ids]
    assert not re.findall(rb"https?://", raw)
    assert page.tags.count("script") == 1
    digest = base64.b64encode(hashlib.sha256("".join(page.scripts).encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page.policy
    assert "default-src 'none'" in page.policy
    assert len(raw) < MOST_BYTES


@pytest.mark.parametrize("cases", together())
def test_it_is_whole_and_says_what_the_document_says(cases: tuple[Path, ...]) -> None:
    for case in cases:
        document = json.loads(run("diagnose", str(case), "--json").out)
        page, raw = page_of(case)
        assert flat(document["answer"]["headline"]) in page.text, case.name
        for found in document["findings"]:
            assert found["id"] in page.ids, case.name
            said = [found["summary"], *(line for one in found["remedies"] for line in one["text"].split("\n"))]
            said += [one["because"] for one in found["considered"] if one["because"]]
            said += [step["text"] for step in found["steps"]]
            assert not [text for text in said if flat(text) not in page.text], case.name
        repeated = [text for text, most in sentences(document["findings"]) if raw.decode().count(text) > most]
        assert not repeated, case.name
        asked = [one["what"] for one in document["next"][:8]]
        assert not [text for text in asked if flat(text) not in page.text], case.name
        check_harmless(page, raw)


def sentences(findings: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """What happened and what to do, as a template writes it, and how often it may stand: once each who it is about."""
    summaries = Counter(f"<p>{escape(printable(found['summary']))}" for found in findings)
    texts = [one["text"].split("\n")[0] for found in findings for one in found["remedies"]]
    yield from (summaries + Counter(f"{escape(printable(text))} <span" for text in texts)).items()


def answers(raw: bytes) -> list[str]:
    """The cards of the answer."""
    return re.findall(r'<section class="cause .*?</section>', raw.decode(), re.DOTALL)


def test_the_answer_says_what_to_do_about_the_cause_as_well() -> None:
    _, raw = page_of(fixtures() / "k39-expired")
    (answer,) = answers(raw)
    assert "Send the records of the failed transaction again" in answer
    assert "transactional.id.expiration.ms" in answer
    assert answer.count('<ol class="do"') == 1


def test_steps_are_one_list_and_none_is_told_twice() -> None:
    """The effect of a stuck transaction asks for what it asks for itself: that is one step."""
    _, raw = page_of(fixtures() / "c3-storm")
    (answer,) = answers(raw)
    assert answer.count('<ol class="do"') == 1
    assert not re.search('<ul class="do"', answer)
    assert answer.count("in-sync replicas") == 1
    assert "Start broker 3 again" in answer


def test_what_is_to_be_mended_alike_is_one_card(tmp_path: Path) -> None:
    """Ids that differ in their numbers alone are named in one card, and told in the evidence each."""
    cluster = Cluster(tmp_path)
    for number, aborts in enumerate((3, 5, 4)):
        cluster.init(f"orders-{number}")
        for _ in range(aborts):
            cluster.begin(f"orders-{number}", "orders-0")
            cluster.abort(f"orders-{number}")
        cluster.run(f"orders-{number}", "orders-0", times=6)
    page, raw = page_of(*cluster.write())
    (answer,) = answers(raw)
    assert "Alike, 2 more:" in answer
    assert answer.count('<ol class="do"') == 1
    assert all(f"orders-{number}" in answer for number in range(3))
    assert page.text.count("aborted 5 of its 11 transactions") == 1


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (
            "Bring partition a-1 back (leader, replicas): markers follow",
            "Bring back partitions (leader, replicas)",
            True,
        ),
        ("Commit or abort the transaction of a, or wait", "Commit or abort it in the application, or wait", True),
        ("Send the records of a again", "Do not send the records of a again", False),
        ("Start broker 3 again", "Keep three replicas and min.insync.replicas 2", False),
        ("Close this producer and make a new one", "Raise transaction.timeout.ms", False),
    ],
)
def test_advice_in_other_words_is_the_same_advice(one: str, other: str, is_same: bool) -> None:
    assert advises_the_same(one, other) is advises_the_same(other, one) is is_same


def test_where_nothing_is_to_be_judged_the_page_says_what_it_read_and_what_to_bring(tmp_path: Path) -> None:
    ticket = tmp_path / "ticket.md"
    ticket.write_text(
        "Who looks at this? The mirror was slow yesterday.\n\n"
        "%7|1718000001.204|RETRY|rdkafka#producer-4| [thrd:k3:9092/3]: k3:9092/3: Retrying Produce message(s) for "
        "geo.out [6]: Broker: Not leader for partition\n"
    )
    page, raw = page_of(ticket)
    assert "Nothing to judge" in page.text
    assert "What to bring next" in page.text
    assert "missing: logs of brokers (zombie coordinator)" in page.text
    assert raw.count(b"<details") == raw.count(b"<details open>") == 1


@pytest.mark.parametrize("name", ["k39-fenced", "k39-open", "c3-storm", "k10-hanging"])
def test_a_page_speaks_no_jargon(name: str) -> None:
    page, _ = page_of(fixtures() / name)
    said = page.text.partition("To the answer")[2]
    unchecked = said.partition("What could not be checked")[2].partition("What was read")[0]
    assert not re.search(r"\b[a-z]+_[a-z_]+: ", unchecked)
    assert not re.findall(r"#\d|\b1 (?:lines|facts|files)\b|log of a unknown|Sure: | is /", said)


def test_names_of_evidence_do_nothing(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    for _ in range(2):
        cluster.init(HOSTILE)
        cluster.begin(HOSTILE, "orders-0")
    cluster.wait(3_600_000)
    cluster.beat()
    page, raw = page_of(*cluster.write())
    check_harmless(page, raw)
    assert printable(HOSTILE) in page.text
    assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", raw)
    assert "\u202e" not in raw.decode()


def test_ids_beyond_those_that_are_drawn_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(tmp_path)
    for number in range(30):
        cluster.init(f"orders-{number}")
        cluster.run(f"orders-{number}", "orders-0")
    (folder,) = cluster.write()
    page, raw = page_of(folder)
    assert page.tags.count("figure") == 1 + 1
    assert len(re.findall(r"<b>orders-\d+</b>", raw.decode())) == 8
    assert "22 ids without a picture" in page.text
    assert "All 30 ids at a glance" in page.text


def test_what_is_open_is_not_drawn_as_committed(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    for name in ("orders-1", "orders-2"):
        cluster.init(name)
        cluster.run(name, "orders-0")
    cluster.begin("orders-2", "orders-0")
    (folder,) = cluster.write()
    _, raw = page_of(folder)
    rows = dict(re.findall(r"<tr><td>(orders-.)</td>(.*?)</tr>", raw.decode(), re.DOTALL))
    assert 'class="open"' not in rows["orders-1"]
    assert 'class="open"' in rows["orders-2"]
    assert "1 not ended" in rows["orders-2"]


@pytest.mark.parametrize("length", [1, 7, 999, 60_000, 3_600_000, 86_400_000 * 400])
def test_an_axis_of_time_has_few_round_ticks(length: int) -> None:
    since = 1_795_257_000_123
    ticks = list(time_ticks(since, since + length, 6))
    assert len(ticks) <= 7
    assert all(since <= at <= since + length for at, _ in ticks)
    assert len({text for _, text in ticks}) == len(ticks)


@pytest.mark.parametrize("length", [1, 9, 1_000, 123_456_789])
def test_an_axis_of_offsets_has_few_round_ticks(length: int) -> None:
    ticks = list(offset_ticks(17, 17 + length))
    assert 1 <= len(ticks) <= 7
    assert ticks == sorted(set(ticks))


def test_a_page_is_no_text_for_a_terminal() -> None:
    assert b"--out incident.html" in on_a_terminal("report", str(CASE))
