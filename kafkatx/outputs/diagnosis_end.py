"""The end of a diagnosis for a person: what could not be looked at, damage, what became of failures.

The sentences are those of the page as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from kafkatx.findings.diagnosis import Diagnosis, FailureCounts
from kafkatx.findings.finding import EVERYWHERE, NotCheckable
from kafkatx.outputs.text_lines import marked, shown
from kafkatx.segments.damage import Damage
from kafkatx.words.plurals import plural

MOST_GAPS = 5
OF_LOGS = "logs of "
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
        told = "; ".join(_not_implied([what for what, _ in missing.most_common()]))
        yield shown(f"More could be judged with: {told}.", "dim")


def _not_implied(asked: list[str]) -> list[str]:
    """Leave out what another one does as well: `logs of clients or brokers` beside `logs of brokers`."""
    return [what for what in asked if not any(f"{OF_LOGS}{one}" in asked for one in _choice(what))]


def _choice(what: str) -> list[str]:
    """Whose logs do, where those of several would."""
    named = what.removeprefix(OF_LOGS).split(" or ")
    return named if what.startswith(OF_LOGS) and len(named) > 1 else []


def gaps(entries: list[NotCheckable]) -> list[str]:
    """Return a line for what is alike: what is missing, and kinds of findings in words, or these, about what, and why.

    `missing: logs of brokers (zombie coordinator)`; `hanging transaction: orders-0; missing: the whole log`.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        alike.setdefault((entry.scope, entry.missing), []).append(entry.rule.replace("_", " "))
    named = {key: ", ".join(dict.fromkeys(rules)) for key, rules in alike.items()}
    return [
        f"missing: {missing} ({rules})" if scope == EVERYWHERE else f"{rules}: {scope}; missing: {missing}"
        for (scope, missing), rules in named.items()
    ]


def damage(found: list[Damage], verbose: bool) -> Iterator[RenderableType]:
    """Bytes that are no legal batch or entry."""
    yield from _listed("Damage", [one.sentence() for one in found], len(found) if verbose else MOST_DAMAGE)


def failures(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """What became of the failures that logs and texts tell of; nothing where all are explained."""
    if diagnosis.failures.told > diagnosis.failures.explained:
        yield shown(failures_told(diagnosis.failures), "dim")


def failures_told(count: FailureCounts) -> str:
    """`Logs and texts tell of 3 failures: 2 are explained, 1 needs no cause (...).`; "" where they tell of none."""
    if not count.told:
        return ""
    kinds = (
        (count.explained, "is explained by a finding", "are explained by findings"),
        (count.unexplained, "has its cause left open", "have their causes left open"),
        (
            count.excused,
            "needs no finding (retried, dropped by the application's own abort, or not about transactions)",
            "need no finding (retried, dropped by the application's own abort, or not about transactions)",
        ),
    )
    told = ", ".join(plural(number, one, many) for number, one, many in kinds if number)
    return f"Logs and texts tell of {plural(count.told, 'failure')}: {told}."


def _listed(title: str, lines: list[str], most: int) -> Iterator[RenderableType]:
    if lines:
        yield Text(title, style="bold")
        yield from (marked("- ", line) for line in lines[:most])
        if len(lines) > most:
            yield marked("  ", f"and {plural(len(lines) - most, 'more', 'more')}: --verbose lists them")
        yield Text("")
