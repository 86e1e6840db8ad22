import pytest

from kafkatx.terms.java_text import java_text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("schlüssel 日本 😀".encode(), "schlüssel 日本 😀"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xed\xa0\x80", "\ufffd"),
        (b"a\xed\xbf\xbfb", "a\ufffdb"),
        (b"\xed\xa0", "\ufffd"),
        (b"\xed\xa0(", "\ufffd("),
        (b"\xe2\x82", "\ufffd"),
        (b"\xe2(\xa1", "\ufffd(\ufffd"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xe0\x80\x80", "\ufffd\ufffd\ufffd"),
        (b"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),
        (b"\xc0\xaf", "\ufffd\ufffd"),
    ],
)
def test_broken_utf_8_is_shown_as_java_shows_it(data, text):
    """Held against JDK 17 through kafka-dump-log 4.3.1 (also tests/dump_text/golden/texts-0)."""
    assert java_text(data) == text
