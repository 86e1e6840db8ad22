"""Texts in which all signs of a rule are there and something else happened, or the line that decides is missing.

fixtures/lookalikes/*.txt hold them: a line `==== rules | what happened` before each text. None of these rules may claim
it at likely or proved; `rule of id` forbids it about that transactional.id alone, `loud` any finding above info.
"""

from pathlib import Path

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.rules.registry import RULES
from kafkatx.terms.errors import NothingReadableError

FOLDER = Path(__file__).parents[2] / "fixtures" / "lookalikes"
TEXTS = [
    pytest.param(rules.split(", "), text, id=f"{path.stem}: {what}")
    for path in sorted(FOLDER.glob("*.txt"))
    for section in path.read_text().split("==== ")[1:]
    for head, _, text in [section.partition("\n")]
    for rules, _, what in [head.partition(" | ")]
]


def claims(page: Path) -> list[dict[str, str]]:
    """The findings of a page."""
    try:
        return list(document(diagnose([page]), "test")["findings"])
    except NothingReadableError:
        return []


def is_claimed(finding: dict[str, str], forbidden: str) -> bool:
    """Whether a finding is what a text forbids."""
    if forbidden == "loud":
        return finding["severity"] != "info"
    rule, _, name = forbidden.partition(" of ")
    is_about = not name or finding["transactional_id"] == name
    return finding["rule"] == rule and is_about and finding["verdict"] != "possible"


@pytest.mark.parametrize(("rules", "text"), TEXTS)
def test_a_lookalike_is_not_claimed(tmp_path: Path, rules: list[str], text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    wrong = [one["summary"] for one in claims(page) for rule in rules if is_claimed(one, rule)]
    assert not wrong, text


def test_every_rule_has_lookalikes() -> None:
    told = {rule.partition(" of ")[0] for param in TEXTS for rule in param.values[0]} - {"loud"}
    assert told <= set(RULES)
    assert set(RULES) - told == {"unexplained_failure"}
