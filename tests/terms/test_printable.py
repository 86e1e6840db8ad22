import pytest

from kafkatx.terms.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 'text' \\ stays", "plain 'text' \\ stays"),
        ("Zürich 東京", "Zürich 東京"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\r\nb\tc\x00\x7f", "a\\x0d\\x0ab\\x09c\\x00\\x7f"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb\u200b\u2028", "a\\u202eb\\u200b\\u2028"),
        ("\udcff", "\\udcff"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_acts_on_a_screen_is_made_visible(text, shown):
    assert printable(text) == shown


def test_a_limit_counts_characters_of_the_text_and_says_that_it_cut():
    assert printable("\x1b" * 5, 2) == "\\x1b\\x1b..."
    assert printable("ab", 2) == "ab"
