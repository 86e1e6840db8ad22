"""docs/site/mkdocs.yml: the documents as a site. Its navigation is the list of docs/index.md, with all rules."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.evidence import ROOT

CONFIGURATION = ROOT / "docs/site/mkdocs.yml"
RULES_PAGE = "rules/README.md"
_ENTRY = re.compile(r"^(?:## (?P<section>.+)|- \[(?P<title>[^]]+)\]\((?P<page>[^)]+)\))", re.MULTILINE)


def build_arguments(folder: Path) -> list[str]:
    """Return what Python is given to write the site into a folder; any warning ends it."""
    return ["-m", "mkdocs", "build", "--strict", "-f", str(CONFIGURATION), "-d", str(folder)]


def site_text(index: str, rules: Iterable[str]) -> str:
    """Return the configuration with a navigation of the page `index` and the rules."""
    kept, _, _ = CONFIGURATION.read_text().partition("\nnav:\n")
    return f"{kept}\nnav:\n" + "".join(f"{line}\n" for line in navigation(index, sorted(rules)))


def navigation(index: str, rules: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the navigation: a section for each heading of the index, an entry for each of its pages."""
    yield "  - kafkatx: index.md"
    for found in _ENTRY.finditer(index):
        if found["section"]:
            yield f"  - {found['section']}:"
        elif found["page"] == RULES_PAGE:
            yield f"      - {found['title']}:"
            yield f"          - {RULES_PAGE}"
            yield from (f"          - {rule}: rules/{rule}.md" for rule in rules)
        else:
            yield f"      - {found['title']}: {found['page']}"
