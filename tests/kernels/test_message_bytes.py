import re

from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.message_bytes import is_plain, may_show_error
from tests.building import BOTH_ENGINES

PIECES = (
    "Exce",
    "rror",
    "E",
    "x",
    "Error",
    "A: ",
    "a: ",
    "A:",
    ": ",
    " ",
    "r",
    "rr",
    "!",
    "\x7f",
    "\x1f",
    "\xff",
    "long ago",
)
MESSAGES = st.tuples(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.integers(0, 9))
ASCII = st.lists(st.sampled_from([piece for piece in PIECES if piece.isascii()]), max_size=12).map("".join)


@BOTH_ENGINES
@given(message=MESSAGES, behind=st.text("E xr:", max_size=9))
def test_a_plain_text_has_single_blanks_and_ascii_only(engine, message, behind):
    text, at = message
    data = (text + behind).encode("latin-1")
    at = min(at, len(text))
    wanted = re.fullmatch(r"[ -~]*", text[at:]) and "  " not in " " + text[at:]
    assert is_plain(is_plain.view(data), at, len(text)) == bool(wanted)


@BOTH_ENGINES
@given(text=ASCII, at=st.integers(0, 9), behind=st.text("E xr:", max_size=9))
def test_what_may_show_an_error_is_found_wherever_it_stands(engine, text, at, behind):
    data = (text + behind).encode()
    at = min(at, len(text))
    wanted = re.search(r"Exce|rror|[A-Z]: (?=.)", text[at:], re.DOTALL)
    assert may_show_error(may_show_error.view(data), at, len(text)) == bool(wanted)
