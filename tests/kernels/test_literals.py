import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels import literals as kernels
from kafkatx.kernels.engine import forced
from kafkatx.kernels.fingerprints import UNKNOWN, flag_words, words_of
from kafkatx.kernels.literals import BROKER, BROKER_WITH_LOGGERS, EVERY_LINE, LiteralSearch, entries
from tests.building import BOTH_ENGINES

SIZES = (4, 5, 6, 7, 10, 14, 15, 16, 20)
"""Sizes of words on both sides of those at which they are looked for by other groups of bytes."""
WORDS = st.lists(
    st.sampled_from(SIZES).flatmap(lambda size: st.text("ab[2)(. x", min_size=size, max_size=size)).map(str.encode),
    min_size=1,
    max_size=6,
).map(tuple)
HEADS = st.sampled_from([b"[20", b"[2026-11-21 10:23:51,003] INFO ", b"", b"\t", b"[x", b" ", b"["])
ENDS = st.sampled_from([b"", b" (a.b)", b" (a.B$)", b" (a b)", b"(a)", b" ()", b" (a.b)\r", b" (a.b:12)", b" (a.b) "])
LINES = st.lists(st.tuples(HEADS, st.text("ab[2)(. x", max_size=8).map(str.encode), ENDS).map(b"".join), max_size=12)
LOGGER = re.compile(rb" \([0-9A-Za-z_$.:-]+\)\r?$")
MODES = (EVERY_LINE, BROKER, BROKER_WITH_LOGGERS)


def entries_by_hand(data: bytes, words: tuple[bytes, ...], mode: int) -> tuple[list[list[int]], int, int]:
    """The same by definition: (start, end of the first line, end, line) of entries with a word, and the open one."""
    bounds, is_open, at = [(0, 0)], False, 0
    for number, line in enumerate(data.split(b"\n")[:-1]):
        begins = mode == EVERY_LINE or (re.match(rb"\[\d\d", line) is not None and not is_open)
        if begins and at:
            bounds.append((at, number))
        if mode == BROKER_WITH_LOGGERS and (begins or is_open):
            is_open = not LOGGER.search(line)
        at += len(line) + 1
    rows = []
    for (start, number), (end, _) in itertools.pairwise(bounds):
        if any(word in line for line in data[start:end].split(b"\n") for word in words):
            rows.append([start, data.index(b"\n", start), end, number])
    return rows, *bounds[-1]


@st.composite
def words_and_data(draw: st.DrawFn) -> tuple[tuple[bytes, ...], bytes]:
    """Some words, and lines of which some hold one of them, or all but a byte of it, at any place."""
    words, lines = draw(WORDS), draw(LINES)
    for number, line in enumerate(lines):
        word, at = draw(st.sampled_from((b"", *words))), draw(st.integers(0, len(line)))
        lines[number] = line[:at] + word[draw(st.integers(0, 1)) :] + line[at:]
    return words, b"".join(line + b"\n" for line in lines)


@BOTH_ENGINES
@pytest.mark.parametrize("mode", MODES)
@given(made=words_and_data())
def test_entries_are_those_with_a_line_that_holds_a_word(engine, mode, made):
    words, data = made
    found, start, line = entries(data, LiteralSearch(words), mode)
    assert (found.tolist(), start, line) == entries_by_hand(data, words, mode)


@pytest.mark.parametrize("mode", MODES)
@given(made=words_and_data())
def test_the_kernel_is_the_same_loop_plain(mode, made):
    words, data = made
    found = np.empty((data.count(b"\n") + 1, 4), np.int64)
    kept = LiteralSearch(words).fingerprints(data)
    groups, flags = words_of(data, is_compiled=False), np.full(len(data) // 8 + 1, UNKNOWN, np.uint8)
    flag_words.plain(groups, kept.wide, kept.narrow, kept.masks, flags)
    count, start, line = kernels.find_entries.plain(
        data, groups, flags, 0, len(data), kept.wide, kept.narrow, kept.masks, kept.buckets,
        kept.groups, kept.text, mode, found,
    )  # fmt: skip
    assert (found[:count].tolist(), start, line) == entries_by_hand(data, words, mode)


def test_words_shorter_than_a_group_are_refused():
    with pytest.raises(ValueError, match="less than 4"):
        LiteralSearch((b"abc",))


@pytest.mark.parametrize("size", SIZES)
def test_a_word_is_found_at_every_place(engine, size):
    word = bytes(range(97, 97 + size))
    for at in range(20):
        for line in (b" " * at + word, b" " * at + word + b" " * 9, b"\n" * at + word):
            found, _, _ = entries(line + b"\nend\n", LiteralSearch((word,)), EVERY_LINE)
            assert len(found) == 1
            assert not len(entries(line.replace(word[1:2], b"#") + b"\nend\n", LiteralSearch((word,)), EVERY_LINE)[0])


def test_more_entries_than_a_buffer_holds_are_found_in_turns(engine):
    data = b"".join(b"[20 %d word\nbehind\n" % number for number in range(700)) + b"[20\n"
    found, _, _ = entries(data, LiteralSearch((b"word",)), BROKER)
    assert found[:, 3].tolist() == list(range(0, 1400, 2))
    assert [data[row[0] : row[1]] for row in found.tolist()] == [b"[20 %d word" % number for number in range(700)]


def test_a_word_within_another_finds_the_lines_of_both(engine):
    found, _, _ = entries(b"abcdef\nxbcdex\nxyz\nbcde\nend\n", LiteralSearch((b"abcdef", b"bcde")), EVERY_LINE)
    assert found[:, 3].tolist() == [0, 1, 3]


def test_words_that_begin_alike_and_overlap_are_all_found(engine):
    words = (b"aabb", b"abab", b"babb")
    for word in words:
        found, _, _ = entries(b"aaaa" + word + b"\nx\n", LiteralSearch(words), EVERY_LINE)
        assert len(found) == 1
    assert not len(entries(b"aaaaa\nbaab\n", LiteralSearch(words), EVERY_LINE)[0])


def test_any_byte_may_stand_in_a_line(engine):
    noise = bytes(byte for byte in range(256) if byte != 10)
    found, start, line = entries(
        noise + b"word" + noise + b"\n" + noise + b"\nend\n", LiteralSearch((b"word",)), EVERY_LINE
    )
    assert [row[3] for row in found.tolist()] == [0]
    assert (start, line) == (3 * len(noise) + len(b"word\n\n"), 2)


def test_a_line_that_looks_like_an_entry_is_part_of_a_message_that_has_not_ended(engine):
    forged = b"[2026-11-21 10:00:01,000] INFO word (kafka.Forged)\n"
    data = b"[2026-11-21 10:00:00,000] INFO value is {\n" + forged + b"} (app.Logger)\n[2026 word (a.b)\n[20\n"
    found, _, _ = entries(data, LiteralSearch((b"word",)), BROKER_WITH_LOGGERS)
    assert [data[row[0] : row[1]][:31] for row in found.tolist()] == [
        b"[2026-11-21 10:00:00,000] INFO ",
        b"[2026 word (a.b)",
    ]


@pytest.mark.parametrize("mode", MODES)
@given(words=st.lists(st.text("ab[2)(", min_size=4, max_size=6).map(str.encode), min_size=1, max_size=6), lines=LINES)
def test_words_of_four_bytes_and_more_are_found_by_groups_of_them(mode, words, lines):
    made = LiteralSearch(tuple(words))
    data = b"".join(line + b"\n" + word[: len(line) % 7] + b"\n" for line, word in zip(lines, words * 12, strict=False))
    with forced("interpreted"):
        found, start, line = entries(data, made, mode)
    assert (found.tolist(), start, line) == entries_by_hand(data, tuple(words), mode)


@given(st.lists(st.text("abc", min_size=4, max_size=8).map(str.encode), max_size=12).map(tuple))
def test_of_literals_that_hold_each_other_the_shortest_are_kept(words):
    kept = tuple(one for one in sorted(set(words)) if not any(other in one for other in set(words) - {one}))
    assert LiteralSearch(words).literals == kept


@given(
    before=st.text("] DT\n", max_size=9),
    level=st.sampled_from(("] DEBUG ", "] TRACE ", "] INFO ", "]DEBUG ", "] DEBUG", "] DEBUGS ", "] TRACE\n")),
    behind=st.text("] DT\n", max_size=9),
)
def test_levels_below_are_never_missed(before, level, behind):
    data = (before + level + behind).encode()
    shown = any(word in data for word in (b"] DEBUG ", b"] TRACE "))
    found = [kernels.has_level_below.plain(data), kernels.has_level_below.compiled(np.frombuffer(data, np.uint8))]
    assert found[0] == found[1]
    assert found[0] or not shown
    assert found[0] or level not in ("] DEBUG ", "] TRACE ")
