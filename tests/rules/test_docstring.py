import subprocess
import sys

import pytest

from kafkatx.rules.docstring import HEADINGS, parse_docstring, rule_texts

WHOLE = """The coordinator ended the transaction because transaction.timeout.ms passed.

    Mechanism    The coordinator compares start + timeout with its clock,
                 bumps the epoch and writes PrepareAbort.
    Evidence     PrepareAbort whose epoch is one above Ongoing.
    Against      an Empty row within moments.

                 Or the broker's own line about another reason.
    Look-alikes
        - fenced_by_new_instance
        - aborted_by_client: the client's word
    Remedy       raise transaction.timeout.ms.
    Source: KIP-98, KIP-588.
    """


def rule(docstring):
    text = parse_docstring("transaction_timed_out", docstring)
    assert text is not None
    return text


def test_a_whole_docstring_gives_its_summary_and_all_sections():
    text = rule(WHOLE)
    assert text.summary == "The coordinator ended the transaction because transaction.timeout.ms passed."
    assert tuple(heading for heading, _ in text.sections) == HEADINGS
    assert text.missing == ()


def test_lines_of_a_paragraph_are_joined():
    assert rule(WHOLE).paragraphs("Mechanism") == (
        "The coordinator compares start + timeout with its clock, bumps the epoch and writes PrepareAbort.",
    )


def test_an_empty_line_begins_a_paragraph():
    against = ("an Empty row within moments.", "Or the broker's own line about another reason.")
    assert rule(WHOLE).paragraphs("Against") == against


def test_dashes_are_paragraphs_without_the_dash():
    look_alikes = ("fenced_by_new_instance", "aborted_by_client: the client's word")
    assert rule(WHOLE).paragraphs("Look-alikes") == look_alikes


def test_a_colon_behind_a_heading_is_not_part_of_its_text():
    assert rule(WHOLE).paragraphs("Source") == ("KIP-98, KIP-588.",)


def test_a_sentence_that_begins_with_a_heading_word_is_no_heading():
    text = rule("Rule.\n\nMechanism  first,\nEvidence of it is thin,\nSource code too.\nRemedy  none.")
    assert text.paragraphs("Mechanism") == ("first, Evidence of it is thin, Source code too.",)


def test_headings_that_are_absent_or_empty_are_named():
    assert rule("Rule.\n\nMechanism  a\nEvidence\nSource  b").missing == (
        "Evidence",
        "Against",
        "Look-alikes",
        "Remedy",
    )


def test_a_heading_given_twice_goes_on():
    assert rule("Rule.\n\nMechanism  a\nSource  b\nMechanism  c").paragraphs("Mechanism") == ("a c",)


@pytest.mark.parametrize(
    "docstring", [None, "", "Helper of rules.\n\nSource  KIP-98", "Mechanism of it all in one line"]
)
def test_other_docstrings_are_no_rules(docstring):
    assert parse_docstring("helper", docstring) is None


def test_rules_are_listed_by_id_without_being_imported(tmp_path):
    (tmp_path / "b_rule.py").write_text('"""B.\n\nMechanism  m\n"""\nraise RuntimeError("imported")\n')
    (tmp_path / "a_rule.py").write_text('"""A.\n\nMechanism  m\n"""\n')
    (tmp_path / "helper.py").write_text('"""No rule."""\n')
    (tmp_path / "bare.py").write_text("x = 1\n")
    (tmp_path / "nested").mkdir()
    (tmp_path / "nested" / "__init__.py").write_text('"""P.\n\nMechanism  m\n"""\n')
    assert [text.rule_id for text in rule_texts([str(tmp_path)])] == ["a_rule", "b_rule"]


def test_helpers_of_the_package_are_not_listed_as_rules():
    assert "docstring" not in {text.rule_id for text in rule_texts()}


def test_every_rule_of_the_package_has_all_headings():
    assert {text.rule_id: text.missing for text in rule_texts() if text.missing} == {}


def test_listing_rules_loads_nothing_heavy():
    code = (
        "import sys; from kafkatx.rules.docstring import rule_texts; rule_texts();"
        "print(sorted({'numpy', 'pyarrow', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
