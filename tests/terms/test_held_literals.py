"""What every match of a pattern holds: a pattern that looks for it first finds what the library finds."""

import random
import re
from re import _parser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.terms.held_literals import begins_anywhere, held_literals
from kafkatx.terms.regex import regex
from tests.evidence import FIXTURES
from tests.terms.test_kept_patterns import all_patterns

SHAPES = {
    r"epoch \d+": ("epoch ",),
    r"\d+|epoch": (),
    r"abort|commit": ("abort", "commit"),
    r"kafka-(?:topics|groups)": ("kafka-",),
    r"(?:xabc|yabc)?end": ("end",),
    r"(?:marker )+x": ("marker ",),
    r"(?:marker ){0,3}ok": ("ok",),
    r"(?!fenced)[a-z]+": (),
    r"(?<=fenced)\d": (),
    r"(?i:fenced)": (),
    r"(?i)fenced": (),
    r"a(?i:b)cd": ("cd",),
    r"[Ss]tate": ("tate",),
    r"fen\bced": ("fenced",),
    r"(?P<a>txn)x\1": ("txn",),
    r"x": (),
}


def held_of(pattern, flags=0):
    tree = _parser.parse(pattern, flags)
    return held_literals(tree, flags | tree.state.flags)


@pytest.mark.parametrize("pattern", SHAPES)
def test_what_is_held(pattern):
    assert held_of(pattern) == SHAPES[pattern]


def test_what_looks_behind_anything_is_known():
    assert [begins_anywhere(_parser.parse(one)) for one in (r".*x", r".{1,9}?x", r"\s*x", "x", "")] == [
        True, True, False, False, False,
    ]  # fmt: skip


PIECES = st.sampled_from(["ab", "c", "x", r"\d", ".", "[ab]", r"\b", "(?=ab)", "(?!c)", "(?i:ab)", "(?<=a)", "^", "$"])
PATTERNS = st.recursive(
    PIECES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(
            st.lists(inner, min_size=1, max_size=2).map("".join), st.sampled_from(["?", "+", "{0,2}", "{2}"])
        ).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    ),
    max_leaves=8,
)


@given(PATTERNS, st.text("abcxABC1 \n", max_size=12))
def test_a_match_holds_what_is_told(pattern, text):
    held = held_of(pattern)
    for found in re.finditer(pattern, text):
        assert not held or any(one in found[0] for one in held)


def lines():
    """Lines of recorded pages and logs, some of them cut or changed."""
    paths = [
        *sorted((FIXTURES / "pages").rglob("*.md"))[::40],
        *sorted((FIXTURES / "k39-fenced" / "logs").rglob("*.log")),
    ]
    texts = [line for path in paths for line in path.read_text("utf-8", "replace").splitlines()]
    chance = random.Random(7)
    chosen = chance.sample(texts, 400)
    return chosen + [line[chance.randrange(len(line) + 1) :][: chance.randrange(1, 90)] for line in chosen]


def test_patterns_of_the_package_find_what_the_library_finds():
    texts = lines()
    joined = "\n".join(texts)
    for pattern, flags in all_patterns():
        ours, own = regex(pattern, flags), re.compile(pattern, flags)
        if type(pattern) is bytes:
            assert str(ours.search(joined.encode())) == str(own.search(joined.encode()))
            assert str(ours.search(memoryview(joined.encode()))) == str(own.search(memoryview(joined.encode())))
            continue
        for text in texts[:: 2 + len(pattern) // 200]:
            for name in ("search", "match", "fullmatch"):
                assert str(getattr(ours, name)(text)) == str(getattr(own, name)(text)), (pattern, text)


def test_bounds_are_those_of_the_library():
    one = regex("epoch")
    assert one.search("an epoch", 4) is None
    assert one.search("an epoch", 3).span() == (3, 8)
    assert one.search("an epoch", 0, 7) is None
