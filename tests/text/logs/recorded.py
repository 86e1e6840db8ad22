"""Lines of recorded texts, for tests that hold two ways to read a line equal."""

from functools import cache

from tests.evidence import FIXTURES

EVERY = 7
"""One page of so many is taken, and one line of so many of a log."""


@cache
def recorded_texts() -> tuple[str, ...]:
    """Some pages and logs, whole."""
    files = [*sorted((FIXTURES / "pages").rglob("*.*"))[::EVERY], *sorted(FIXTURES.glob("k*/logs/*.log"))[::EVERY]]
    return tuple(path.read_text("utf-8", "replace") for path in files if path.is_file())


def recorded_lines() -> tuple[str, ...]:
    """Lines of them, each once."""
    lines = dict.fromkeys(line for text in recorded_texts() for line in text.split("\n"))
    return tuple(sorted(lines))[:: max(1, len(lines) // 4_000)]
