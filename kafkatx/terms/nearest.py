"""What somebody may have meant by a word that is none of those known."""

from collections.abc import Iterable

LIKENESS = 0.6
"""How alike two words must be, as difflib measures it."""
MOST = 3
"""Words that are offered."""


def nearest(word: str, known: Iterable[str], likeness: float = LIKENESS) -> list[str]:
    """Return the known words that look like `word`, best first, else those that hold it; three at most."""
    import difflib

    names = list(known)
    folded = {name.casefold(): name for name in reversed(names)}
    alike = difflib.get_close_matches(word.casefold(), folded, n=MOST, cutoff=likeness)
    holding = [name for name in names if len(word) > 2 and word.casefold() in name.casefold()]
    return [folded[name] for name in alike] or holding[:MOST]


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return `did you mean a, b or c?`, None where nothing is near."""
    names = nearest(word, known)
    return (
        f"did you mean {' or '.join(part for part in (', '.join(names[:-1]), names[-1]) if part)}?" if names else None
    )
