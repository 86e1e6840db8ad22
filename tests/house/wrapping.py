"""Lines of a page that are not too long for a terminal."""

import re
import textwrap

COLUMNS = 130
_FENCE = re.compile(r"(`{3,}|~{3,})")
_KEPT = re.compile(r"\s*\||<!--|#")
"""Lines that have to stay whole: rows of tables, comments, headings."""
_ITEM = re.compile(r"\s*(?:[-*] |\d+\. )?")
_MARK = re.compile(r"(?:[-+*#>]|\d+[.)])$")
"""What would make a list, a heading or a quotation of the line that it begins."""


def wrapped(page: str) -> str:
    """Return a page of Markdown with its long lines broken at blanks, below `COLUMNS`; code and tables stay."""
    return "".join(line if kept else f"{filled(line)}\n" for line, kept in lines_of(page))


def long_lines(page: str) -> list[str]:
    """Return the lines that could be shorter."""
    return [line for line, kept in lines_of(page) if not kept and line.rstrip("\n") != filled(line)]


def lines_of(page: str) -> list[tuple[str, bool]]:
    """Return the lines of a page, and whether each has to stay as it is."""
    lines, fence = list[tuple[str, bool]](), ""
    for line in page.splitlines(keepends=True):
        found = _FENCE.match(line)
        is_fence = found is not None and (not fence or line.startswith(fence))
        lines.append((line, bool(fence) or is_fence or _KEPT.match(line) is not None))
        if is_fence and found is not None:
            fence = "" if fence else found[1]
    return lines


def filled(line: str) -> str:
    """Return a line as several, the later ones indented as the text of a list's item is."""
    indent = " " * len(_ITEM.match(line)[0])  # type: ignore[index]
    text = line.rstrip("\n")
    if len(text) < COLUMNS:
        return text
    broken = textwrap.wrap(text, COLUMNS - 1, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    for number in range(len(broken) - 1, 0, -1):
        words = broken[number].split(" ")
        if _MARK.match(words[len(indent)]):
            first, _, moved = broken[number - 1].rpartition(" ")
            broken[number - 1 : number + 1] = [first, f"{indent}{moved} {broken[number].strip()}"]
    return "\n".join(broken)
