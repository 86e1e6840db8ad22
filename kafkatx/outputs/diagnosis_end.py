"""The end of a diagnosis for a person: what could not be looked at, damage, what became of failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.findings.finding import EVERYWHERE, NotCheckable
from kafkatx.outputs.text_lines import marked, shown
from kafkatx.segments.damage import Damage
from kafkatx.words.plurals import plural

MOST_GAPS = 5
MOST_DAMAGE = 20
"""Lines of each that are printed; JSON has all."""


def not_checked(diagnosis: Diagnosis, verbose: bool) -> Iterator[RenderableType]:
    """What rules could not look at: what they asked for by name, and in one line what would let more of them look."""
    entries = [entry for _, entry in diagnosis.not_checkable]
    if verbose:
        yield from _listed("Not checked", gaps(entries), len(entries))
        return
    yield from _listed("Not checked", gaps([one for one in entries if one.scope != EVERYWHERE]), MOST_GAPS)
    missing = Counter(entry.missing for entry in entries if entry.scope == EVERYWHERE)
    if missing:
        told = "; ".join(
            f"{what} ({plural(count, 'kind of finding', 'kinds of finding')})" for what, count in missing.items()
        )
        yield shown(f"More could be judged with: {told}.", "dim")


def gaps(entries: list[NotCheckable]) -> list[str]:
    """Return a line for what is alike."""
    alike: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        alike.setdefault((entry.scope, entry.missing), []).append(entry.rule)
    return [
        f"{', '.join(dict.fromkeys(rules))}: {scope}; missing: {missing}" for (scope, missing), rules in alike.items()
    ]


def damage(found: list[Damage], verbose: bool) -> Iterator[RenderableType]:
    """Bytes that are no legal batch or entry."""
    yield from _listed("Damage", [one.sentence() for one in found], len(found) if verbose else MOST_DAMAGE)


def failures(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """What became of the failures that logs and texts tell of; nothing where all are explained."""
    count = diagnosis.failures
    kinds = ((count.explained, "explained"), (count.unexplained, "with a cause left open"), (count.excused, "excused"))
    if count.told > count.explained:
        told = ", ".join(f"{number:,} {kind}" for number, kind in kinds if number)
        yield shown(f"Failures told by logs and texts: {told}.", "dim")


def _listed(title: str, lines: list[str], most: int) -> Iterator[RenderableType]:
    if lines:
        yield Text(title, style="bold")
        yield from (marked("- ", line) for line in lines[:most])
        if len(lines) > most:
            yield marked("  ", f"and {plural(len(lines) - most, 'more', 'more')}: --verbose lists them")
        yield Text("")
