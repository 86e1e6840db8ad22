"""Ids, topics, payloads, files and lines of logs that want to be more than text: in the page, a terminal, JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kafkatx.terms.printable import printable
from tests.cases.commands import BAR, on_a_terminal, run
from tests.outputs.page.browser import visit
from tests.outputs.page.test_page import Page, check_harmless, page_of
from tests.rules.cluster import Cluster

TEXTS = {
    "image": '<img src=x onerror="window.ran=1">',
    "script": "<script>window.ran=1</script>",
    "end of an attribute": "\" onfocus=window.ran=1 autofocus tabindex=0 x='",
    "end of a picture": "</title></svg><svg onload=window.ran=1>",
    "end of the style": "</style></head><body onload=window.ran=1>",
    "entity": "&lt;script&gt;&#60;b&#62;",
    "template": "{{ 7 * 7 }}{% raw %}",
    "escapes": "\x1b[31mred\x1b]0;owned\x07\x9b2J",
    "turned round": "abc\u202edcba\u2066\u200f",
    "markup": "[bold red]x[/bold red][/][link=x]y[/link]",
}
TOPIC = "<img src=x onerror=window.ran=1>[bold]\x1b[31m\u202e"
SECRET = "Zq7Kn0ckedxW9kV"
LINE = (
    "2026-11-21 10:00:0{number},000 ERROR [main] com.example.Orders - [Producer clientId=c, transactionalId=orders-1] "
    "lost {text} password={secret}: org.apache.kafka.common.errors.ProducerFencedException: {text} token={secret}"
)
QUOTED = "ProducerFencedException: "
ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200f\u202e\u2066]")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
HARM = """() => [
  window.ran, document.images.length, document.scripts.length,
  document.querySelectorAll('[onload], [onerror], [onfocus], b > b').length,
]"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of data and logs in which all that anybody could name is hostile; something is wrong with each id."""
    cluster = Cluster(tmp_path_factory.mktemp("hostile"))
    for name in TEXTS.values():
        cluster.init(name)
        cluster.begin(name, f"{TOPIC}-0")
        cluster.init(name)
        cluster.begin(name, f"{TOPIC}-0")
        cluster.log("payloads-0").row(name.encode(), name.encode(), cluster.clock)
    cluster.wait(3_600_000)
    cluster.beat()
    (folder,) = cluster.write()
    lines = [LINE.format(number=number, text=text, secret=SECRET) for number, text in enumerate(TEXTS.values())]
    for name in ("client.log", "<img src=x onerror=window.ran=1>[b]\x1b[2J.log"):
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def packed(text: str) -> str:
    """A text without the breaks that a terminal of 80 columns needs."""
    return "".join(text.split())


def strings(value: Any) -> set[str]:
    """Every string of a document."""
    if isinstance(value, dict):
        return set().union(*map(strings, value.values()))
    if isinstance(value, list):
        return set().union(*map(strings, value))
    return {value} if isinstance(value, str) else set()


def test_the_page_holds_them_as_text(evidence: Path) -> None:
    page, raw = page_of(evidence)
    check_harmless(page, raw)
    assert not ACTING.search(raw.decode())
    text = packed(page.text)
    assert not [kind for kind, name in TEXTS.items() if packed(printable(name)) not in text]
    assert packed(printable(TOPIC)) in text
    assert packed(f"{QUOTED}{TEXTS['image']}") in text
    assert SECRET not in raw.decode()


@pytest.mark.parametrize("words", [("diagnose", "-v"), ("history", "--all", "-v")], ids=" ".join)
def test_the_terminal_shows_them_as_text(evidence: Path, words: tuple[str, ...]) -> None:
    written = on_a_terminal(words[0], str(evidence), *words[1:]).decode().replace("\r\n", "\n")
    shown = COLOURS.sub("", BAR.sub("", written))
    assert not ACTING.search(shown)
    assert not [kind for kind, name in TEXTS.items() if packed(printable(name)) not in packed(shown)]
    assert packed(printable(TOPIC)) in packed(shown)
    assert packed(f"{QUOTED}{TEXTS['image']}") in packed(shown)
    assert SECRET not in packed(shown)


@pytest.mark.parametrize("words", [("diagnose",), ("history", "--all", "-v")], ids=" ".join)
def test_json_has_them_whole(evidence: Path, words: tuple[str, ...]) -> None:
    result = run(words[0], str(evidence), *words[1:], "--json")
    assert result.raw.isascii()
    assert not ACTING.search(result.out)
    held = strings(json.loads(result.out))
    assert not [kind for kind, name in TEXTS.items() if name not in held]
    assert any(TOPIC in text for text in held)
    assert any(f"{QUOTED}{TEXTS['image']}" in text for text in held)
    assert SECRET not in result.out


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_payloads_are_text_where_they_are_asked_for(evidence: Path, number: int) -> None:
    name = [*TEXTS.values()][number]
    words = ("locate", str(evidence), f"payloads-0:{number}", "--show-payloads")
    shown = run(*words)
    assert not ACTING.search(shown.out)
    assert packed(printable(name)) in packed(shown.out)
    told = run(*words, "--json")
    assert told.raw.isascii()
    assert name in strings(json.loads(told.out))


def test_nothing_of_it_runs_in_a_browser(evidence: Path, browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "incident.html"
    assert run("report", str(evidence), "--out", str(file)).code == 0
    with visit(browser, file) as seen:
        seen.unfold()
        seen.tabbed()
        assert seen.page.evaluate(HARM) == [None, 0, 1, 0]
        assert not [*seen.faults, *seen.requests, *seen.sideways(), *seen.inaccessible()]
        assert Page(file.read_text()).tags.count("script") == 1
