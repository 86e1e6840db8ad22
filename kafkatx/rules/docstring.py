"""The docstring of a rule is its page: read into a summary and sections, without importing the rule.

Format  a first line that says the rule in one sentence, then headings at the left margin, each followed by two blanks
        (or a colon, or the end of the line) and its text; deeper lines go on with it, an empty line or a line that
        begins with `- ` starts a new paragraph.
Limits  a module whose docstring has no heading `Mechanism` is a helper, not a rule. The source is parsed, not run, so
        that listing rules loads neither numpy nor pyarrow.
"""

import ast
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from inspect import cleandoc

import kafkatx.rules
from kafkatx.terms.records import dataclass

_QUOTES = '"""'
HEADINGS = ("Mechanism", "Evidence", "Against", "Look-alikes", "Remedy", "Source")
"""The headings that every rule has, in the order that a reader wants them."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """What a rule says of itself; `sections` are headings with their paragraphs, as ordered in the docstring."""

    rule_id: str
    summary: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The headings that the docstring should have and has not."""
        found = {heading for heading, paragraphs in self.sections if paragraphs}
        return tuple(heading for heading in HEADINGS if heading not in found)

    def paragraphs(self, heading: str) -> tuple[str, ...]:
        """Return the paragraphs under a heading; none if it is absent."""
        return dict(self.sections).get(heading, ())


def parse_docstring(rule_id: str, docstring: str | None) -> RuleText | None:
    """Return the text of a rule, or None if the docstring is not of that form."""
    summary, sections = list[str](), dict[str, list[str]]()
    lines = summary
    for line in cleandoc(docstring or "").splitlines():
        heading, text = _heading(line)
        if heading:
            lines = sections.setdefault(heading, [])
        lines.append(text)
    if "Mechanism" not in sections:
        return None
    texts = tuple((heading, tuple(_paragraphs(found))) for heading, found in sections.items())
    return RuleText(rule_id, " ".join(_paragraphs(summary)), texts)


def _heading(line: str) -> tuple[str, str]:
    """The heading that a line begins with, empty if it begins with none, and the text behind it."""
    for heading in HEADINGS:
        behind = line.removeprefix(heading)
        if behind != line and (not behind.strip() or behind.startswith("  ") or behind.lstrip().startswith(":")):
            return heading, behind.strip().removeprefix(":").strip()
    return "", line


def rule_texts(folders: Iterable[str] | None = None) -> tuple[RuleText, ...]:
    """Return the texts of all rules, by rule id.

    Args:
        folders: where rule modules lie; by default the package `kafkatx.rules`.
    """
    return _texts_in(tuple(folders or kafkatx.rules.__path__))


@cache
def _texts_in(folders: tuple[str, ...]) -> tuple[RuleText, ...]:
    found = (parse_docstring(name, docstring) for name, docstring in _docstrings(folders))
    return tuple(sorted((text for text in found if text is not None), key=lambda text: text.rule_id))


def _docstrings(folders: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    from importlib.abc import InspectLoader

    for module in pkgutil.iter_modules(folders):
        spec = module.module_finder.find_spec(module.name, None)
        source = spec.loader.get_source(module.name) if spec and isinstance(spec.loader, InspectLoader) else None
        if source is not None and not module.ispkg:
            yield module.name, ast.get_docstring(ast.parse(_beginning(source)))


def _beginning(source: str) -> str:
    """A module up to the end of its docstring, where that stands first: all that has to be parsed."""
    end = source.find(_QUOTES, len(_QUOTES))
    return source[: end + len(_QUOTES)] if source.startswith(_QUOTES) and end > 0 else source


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    words: list[str] = []
    for line in [*lines, ""]:
        text = line.strip()
        if words and (not text or text.startswith("- ")):
            yield " ".join(words)
            words = []
        words.extend(text.removeprefix("- ").split())
