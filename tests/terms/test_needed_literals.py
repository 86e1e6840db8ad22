"""What is looked for before a pattern is asked stands in every text that the pattern matches."""

import re

import pytest

from kafkatx.terms.catalogue.loading import statement_patterns, symptoms
from kafkatx.text.prose.statements import OF_CAUSES
from tests.terms.needed_literals import needs


@pytest.mark.parametrize("symptom", symptoms(), ids=lambda one: one.name)
def test_a_symptom_needs_one_of_its_literals(symptom):
    assert symptom.holds
    assert all(text == text.lower() for text in symptom.holds)
    assert needs(symptom.pattern, symptom.holds, re.IGNORECASE)


@pytest.mark.parametrize("name", OF_CAUSES)
def test_what_speaks_for_a_cause_needs_one_of_its_literals(name):
    patterns = [row.pattern for row in statement_patterns() if row.name == name]
    assert patterns
    assert all(needs(pattern, OF_CAUSES[name], re.IGNORECASE) for pattern in patterns)


@pytest.mark.parametrize(
    ("pattern", "literals", "is_needed"),
    [
        ("a(?:bc|de)+f", ["bc", "de"], True), ("a(?:bc|de)+f", ["bc"], False), ("a(?:bc|de)*f", ["bc", "de"], False),
        ("colou?r", ["color", "colour"], True), ("colou?r", ["colour"], False), (r"x.{0,9}\bend\b", ["end"], True),
        ("(?:one|two) three", ["one t", "two t"], True), ("(?!one)two", ["one"], False), ("[ab]c", ["ac", "bc"], True),
        ("(?:never (?:a|b)|not c)", ["never", "not"], True), ("x|", ["x"], False), (r"\d+", ["1"], False),
    ],
)  # fmt: skip
def test_what_a_pattern_needs_is_told_by_its_parts(pattern, literals, is_needed):
    assert needs(pattern, literals) is is_needed
