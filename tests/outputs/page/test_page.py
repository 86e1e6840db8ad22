"""The page: whole, harmless, loading nothing, and saying what the JSON document says."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kafkatx.outputs.chart_words import time_ticks
from kafkatx.outputs.page.drawing import offset_ticks
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
        asked = [one["what"] for one in document["next"][:8]]
        assert not [text for text in asked if flat(text) not in page.text], case.name
        check_harmless(page, raw)


def test_the_answer_says_what_to_do_about_the_cause_as_well() -> None:
    _, raw = page_of(fixtures() / "k39-expired")
    (answer,) = re.findall(r'<section class="cause .*?</section>', raw.decode(), re.DOTALL)
    assert "Send the records of the failed transaction again" in answer
    assert "Keep ids for longer than they are idle" in answer


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
