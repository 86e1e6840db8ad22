"""The documents build as a site without a warning, need nothing of other hosts, and leave nothing behind."""

import re

import pytest

from tests.evidence import ROOT
from tests.house.site import build_arguments, navigation
from tests.house.tools import output_of

LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^\"' >]+")
IN_STYLES = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built once."""
    before = documents()
    folder = tmp_path_factory.mktemp("site")
    code, printed = output_of(*build_arguments(folder), NO_MKDOCS_2_WARNING="1")
    assert code == 0, printed
    assert documents() == before
    return folder


def documents() -> set[str]:
    return {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*")}


def test_every_page_is_in_the_site(site):
    pages = {str(path.relative_to(ROOT / "docs").with_suffix(".html")) for path in (ROOT / "docs").rglob("*.md")}
    expected = {page.replace("README.html", "index.html") for page in pages}
    assert {str(path.relative_to(site)) for path in site.rglob("*.html")} == {*expected, "404.html"}


def test_a_page_loads_nothing_of_another_host(site):
    for page in site.rglob("*.html"):
        assert not LOADED.findall(page.read_text()), page.name
    for sheet in site.rglob("*.css"):
        assert not IN_STYLES.findall(sheet.read_text()), sheet.name


@pytest.mark.parametrize(
    "line",
    [
        '<script src="https://example.org/a.js">',
        "<link rel=stylesheet href=//example.org/a.css>",
        '<img alt="" src=http://example.org/b.png>',
    ],
)
def test_what_would_be_loaded_is_seen(line):
    assert LOADED.search(line)
    assert not LOADED.search('<a href="https://example.org/">')


def test_the_navigation_is_the_index_with_all_rules():
    index = "# a\n\n- no\n\n## One\n\n- [T](t.md): text\n- [R](rules/README.md): text\n\n## Two\n\n- [U](u.md)\n"
    assert "\n".join(navigation(index, ["x", "y"])).splitlines() == [
        "  - kafkatx: index.md",
        "  - One:",
        "      - T: t.md",
        "      - R:",
        "          - rules/README.md",
        "          - x: rules/x.md",
        "          - y: rules/y.md",
        "  - Two:",
        "      - U: u.md",
    ]
