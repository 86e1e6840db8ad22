"""One value for each setting and client in one answer: of several proposals the largest, which covers the others.

Each finding proposes what its own measure asks for. Who reads several of them sets the setting once: so a time that is
to be raised for several reasons is the same wherever it is proposed, and says where it is larger than its own reason
asks. A client is its transactional.id; ids that one framework numbers have one configuration; a proposal for all
clients holds for each of them, one for brokers is one. Where one of them would lower what another one raises, both
stand: which of the two is meant is no sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafkatx.findings.finding import Finding
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.frameworks import framework_of
from kafkatx.terms.regex import regex
from kafkatx.words.explained import Remedy
from kafkatx.words.explanation import Phrase, measure
from kafkatx.words.template import render
from kafkatx.words.values import Duration, facts

MILLISECONDS = ".ms"
"""In the names of settings of which a larger value does all that a smaller one does."""
ALL = ""
"""Stands for all clients, and for the brokers."""
_NUMBERS = regex(r"(?:[-_.]?\d+)+$")


@facts
class Raised:
    """What a smaller proposal `asked` for, and what was `derived` from; None where nothing was measured."""

    derived: str | None
    asked: Duration


COVERED = Phrase(
    Raised, measure("[{derived}; ]that asks for {asked}: another finding here needs more, and one value covers both")
)


def with_one_value(model: CaptureModel, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, each remedy with the value that covers all proposals for its setting and client."""
    asked: dict[tuple[str, str], dict[str, list[Remedy]]] = {}
    for finding in findings:
        for one in finding.remedies:
            if (setting := _setting(one)) is not None:
                asked.setdefault(setting, {}).setdefault(_whose(model, finding, one), []).append(one)
    largest = {setting: _largest(by_client) for setting, by_client in asked.items()}
    return [_with(finding, largest, model) for finding in findings]


def _setting(one: Remedy) -> tuple[str, str] | None:
    """Whose side and which setting, of a proposal of a time."""
    if one.config is None or MILLISECONDS not in one.config or not (one.proposed or "").isdecimal():
        return None
    return one.where, one.config


def _whose(model: CaptureModel, finding: Finding, one: Remedy) -> str:
    """The client that a proposal is for."""
    name = finding.transactional_id
    if name is None or one.where != "client":
        return ALL
    return _NUMBERS.sub("", name) if framework_of(model, name) is not None else name


def _largest(by_client: dict[str, list[Remedy]]) -> dict[str, int]:
    """The value of each client; of all clients the largest of any, nothing where one is to be lowered."""
    every = [one for proposals in by_client.values() for one in proposals]
    if any((one.current or "").isdecimal() and int(one.current or 0) > int(one.proposed or 0) for one in every):
        return {}
    found = {whose: max(int(one.proposed or 0) for one in proposals) for whose, proposals in by_client.items()}
    if ALL not in found:
        return found
    return {whose: max(value, found[ALL]) if whose != ALL else max(found.values()) for whose, value in found.items()}


def _with(finding: Finding, largest: dict[tuple[str, str], dict[str, int]], model: CaptureModel) -> Finding:
    told = tuple(_raised(one, largest, _whose(model, finding, one)) for one in finding.remedies)
    return finding if told == finding.remedies else replace(finding, remedies=told)


def _raised(one: Remedy, largest: dict[tuple[str, str], dict[str, int]], whose: str) -> Remedy:
    """A remedy with the value that covers all."""
    setting = _setting(one)
    value = largest[setting].get(whose) if setting is not None else None
    if value is None or value == int(one.proposed or 0):
        return one
    asked = Raised(one.derived_from, Duration(int(one.proposed or 0)))
    return replace(one, proposed=str(value), derived_from=render(COVERED.words.text, asked))
