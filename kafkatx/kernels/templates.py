"""Lines of brokers' logs taken apart and recognised where they lie: no Python object a line.

Line       `[2026-11-21 10:23:51,003] LEVEL [context] message (logger)`, and under it nothing or a stack trace; any
           other line is left to the slow path (status SLOW), which reads every layout (text/logs/framing.py).
Recognised as terms/catalogue/templates.py does it: pieces in order, the first at the beginning of the message, the last
           at its end; candidates by the first four bytes of the message, the most telling first.
Equal      to the slow path on every line: tests/text/logs/test_columns.py holds them together.
Length     more than one file holds elsewhere: it is one automaton over one array of columns, read from the top.
"""

from typing import Any

from kafkatx.kernels.bytes import uint32_at
from kafkatx.kernels.engine import kernel_inlined, kernel_lean
from kafkatx.kernels.literals import find_entries, logger_start, without_return
from kafkatx.kernels.loads import byte_at
from kafkatx.kernels.message_bytes import has_escape, is_plain, may_show_error

NOTHING, DONE, SLOW, OPEN = 0, 1, 2, 3
"""Status of an entry: no event; its columns are known; the slow path must read it; taken apart, not recognised yet."""
MOST_FIELDS = 14
"""Placeholders of a text that are kept."""
STATUS, PATTERN, LEVEL, CONTEXT, LOGGER, MESSAGE = 0, 1, 2, 3, 5, 7
THROWN, THROWN_CLASS, THROWN_TEXT, SHOWN, DOUBT = 9, 10, 12, 14, 15
SPANS = 16
THROWN_SPANS = SPANS + 2 * MOST_FIELDS
WIDTH = THROWN_SPANS + 2 * MOST_FIELDS
"""Columns of an entry; those of texts take two, the first byte and the length. SHOWN: whether an exception stands under
the line (-1: something else does), DOUBT: whether the message may hold one."""
LEVELS = tuple(
    (int.from_bytes(word, "big"), level)
    for word, level in ((b"INFO", 2), (b"WARN", 3), (b"ERROR", 4), (b"DEBUG", 1), (b"TRACE", 0), (b"FATAL", 4))
)
"""Words of levels as numbers, and what they are (terms.events.Level)."""
LONGEST_LEVEL = 5
TION = int.from_bytes(b"tion", "big")
"""Four characters as a number."""
CLOSING = (41, 62, 93)
"""Brackets that close."""
LONGEST_LINE, LONGEST_CONTEXT, MOST_CONTEXTS = 4000, 1000, 6


@kernel_lean
def digits(data: Any, at: int, count: int) -> int:
    """Number in `count` digits, -1 if one is none."""
    value = 0
    for place in range(at, at + count):
        digit = data[place] - 48
        if digit < 0 or digit > 9:
            return -1
        value = value * 10 + digit
    return value


@kernel_lean
def has_marks_of_time(data: Any, at: int) -> bool:
    """Whether what stands between the numbers of `[2026-11-21 10:23:51,003] ` stands at `at`."""
    if data[at + 24] != 93 or data[at + 25] != 32 or data[at + 5] != 45 or data[at + 8] != 45 or data[at + 11] != 32:
        return False
    return bool(data[at + 14] == 58 and data[at + 17] == 58 and (data[at + 20] == 44 or data[at + 20] == 46))


@kernel_lean
def printed_time(data: Any, at: int, end: int) -> int:
    """Milliseconds of `[2026-11-21 10:23:51,003] ` at `at`, as if UTC; -1 if it is none, or the line is long."""
    if not 26 <= end - at < LONGEST_LINE or not has_marks_of_time(data, at):
        return -1
    year, month, day = digits(data, at + 1, 4), digits(data, at + 6, 2), digits(data, at + 9, 2)
    hour, minute, second = digits(data, at + 12, 2), digits(data, at + 15, 2), digits(data, at + 18, 2)
    fraction = digits(data, at + 21, 3)
    if year < 1970 or not 1 <= month <= 12 or not 1 <= day <= days_of(year, month):
        return -1
    if not 0 <= hour <= 23 or not 0 <= minute <= 59 or not 0 <= second <= 59 or fraction < 0:
        return -1
    shifted = year - (1 if month <= 2 else 0)
    of_era = shifted % 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = shifted // 400 * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    return ((days * 24 + hour) * 60 + minute) * 60000 + second * 1000 + fraction


@kernel_lean
def days_of(year: int, month: int) -> int:
    """Days of a month."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31


@kernel_lean
def level_at(data: Any, at: int, end: int) -> tuple[int, int]:
    """Level (terms.events.Level) of the word at `at` and the position behind it; -1 if it is none."""
    stop, word = at, 0
    while stop < end and stop - at < LONGEST_LEVEL and 65 <= data[stop] <= 90:
        word = word * 256 + data[stop]
        stop += 1
    if stop < end and data[stop] == 32:
        for name, level in LEVELS:
            if word == name:
                return level, stop
    return -1, stop


@kernel_lean
def after_blanks(data: Any, at: int, end: int) -> int:
    """Where what begins at `at` goes on behind its blanks."""
    while at < end and data[at] == 32:
        at += 1
    return at


@kernel_lean
def before_blanks(data: Any, at: int, end: int) -> int:
    """Where [at, end) ends without the blanks at its end."""
    while end > at and data[end - 1] == 32:
        end -= 1
    return end


@kernel_lean
def bracket_end(data: Any, at: int, end: int) -> int:
    """Position behind the bracket that opens at `at`, -1 if it does not close soon."""
    depth = 0
    for place in range(at, min(end, at + LONGEST_CONTEXT)):
        byte = byte_at(data, place)
        if byte == 91:
            depth += 1
        elif byte == 93:
            depth -= 1
            if depth == 0:
                return place + 1
    return -1


@kernel_lean
def contexts_end(data: Any, start: int, end: int) -> int:
    """Where the message begins behind its leading brackets; -1 where the slow path must decide.

    Colours in the message itself are for `is_plain` to see.
    """
    at = start
    for _ in range(MOST_CONTEXTS):
        if at >= end or data[at] != 91:
            break
        at = bracket_end(data, at, end)
        if at < 0:
            return -1
        for mark in (58, 44, 32):
            if at < end and data[at] == mark:
                at += 1
    is_damaged = has_escape(data, start, at) or (at == start and has_lost_front(data, at, end))
    return -1 if is_damaged else at


@kernel_inlined
def equals(data: Any, at: int, pieces: Any, start: int, size: int) -> bool:
    """Whether the `size` bytes of `pieces` from `start` stand at `at`."""
    for place in range(size):  # noqa: SIM110 (numba knows no generators)
        if byte_at(data, at + place) != byte_at(pieces, start + place):
            return False
    return True


@kernel_inlined
def place_of(data: Any, at: int, highest: int, pieces: Any, start: int, size: int) -> int:
    """Where the `size` bytes of `pieces` from `start` stand in data, from `at` to `highest`; behind that if nowhere."""
    if size == 0:
        return at
    first = byte_at(pieces, start)
    while at <= highest and (byte_at(data, at) != first or not equals(data, at, pieces, start, size)):
        at += 1
    return at


@kernel_lean
def match_pieces(
    data: Any, at: int, end: int, pieces: Any, bounds: Any, first: int, last: int, out: Any, number: int, column: int
) -> bool:
    """Whether the message data[at:end) is the text of pieces `first` to `last` (excluded).

    The spans of its values go into row `number` of `out`.
    """
    for piece in range(first, last):
        start, size = bounds[piece], bounds[piece + 1] - bounds[piece]
        place = end - size if piece == last - 1 and piece > first else at
        highest = end - size if piece > first else at
        if place < at or place + size > end:
            return False
        place = place_of(data, place, highest, pieces, start, size)
        if place > highest:
            return False
        value = piece - first - 1
        if 0 <= value < 14:
            out[number, column + 2 * value] = at
            out[number, column + 2 * value + 1] = place - at
        at = place + size
    return bool(at == end)


@kernel_lean
def simple_name(data: Any, at: int, end: int) -> tuple[int, int]:
    """Where the simple name of the logger data[at:end) begins and ends."""
    while end > at and byte_at(data, end - 1) == 36:
        end -= 1
    start = end
    while start > at and byte_at(data, start - 1) != 46:
        start -= 1
    return start, end


@kernel_lean
def is_one_of(data: Any, start: int, end: int, names: Any, bounds: Any, first: int, last: int) -> bool:
    """Whether a simple name is one of the names `first` to `last` (excluded)."""
    for name in range(first, last):
        low, high = bounds[name], bounds[name + 1]
        if high - low == end - start and equals(data, start, names, low, high - low):
            return True
    return False


@kernel_lean
def group_of(data: Any, at: int, end: int, place: int, keys: Any) -> int:
    """Number of the texts that begin with the first four bytes of a message, -1 if none do."""
    if end - at < 4:
        return -1
    key = uint32_at(data, at) + place * 4294967296
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


@kernel_lean
def line_end(data: Any, at: int, end: int) -> int:
    """Where the line ends that begins at `at`."""
    while at < end and byte_at(data, at) != 10:
        at += 1
    return at


@kernel_lean
def class_end(data: Any, at: int, end: int) -> int:
    """Where the name of a class ends that begins at `at`: letters, digits, `.`, `$` and `_`."""
    while at < end:
        byte = byte_at(data, at)
        if not (97 <= byte <= 122 or 65 <= byte <= 90 or 48 <= byte <= 57 or byte == 46 or byte == 36 or byte == 95):
            break
        at += 1
    return at


@kernel_lean
def are_frames(data: Any, at: int, end: int) -> bool:
    """Whether all lines are blank or those of a stack trace: a tab, then `at` or `...`."""
    while at < end:
        stop = line_end(data, at, end)
        if stop > at and (stop - at <= 4 or data[at] != 9 or (data[at + 1] != 97 and data[at + 1] != 46)):
            return False
        at = stop + 1
    return True


@kernel_lean
def thrown_at(data: Any, at: int, end: int, out: Any, number: int) -> int:
    """Class and text of the exception that the lines data[at:end) show.

    1: found, the spans written to row `number` of `out`; 0: there are only blank lines; -1: for the slow path.
    """
    behind = line_end(data, at, end) + 1
    stop = without_return(data, at, behind - 1)
    if stop == at:
        return 0 if behind >= end else -1
    place = class_end(data, at, stop)
    if place - at < 10 or uint32_at(data, place - 4) != TION:
        return -1
    if place < stop and (data[place] != 58 or place + 1 >= stop or data[place + 1] != 32):
        return -1
    text = min(place + 2, stop)
    if not are_frames(data, behind, end) or not is_plain(data, text, stop):
        return -1
    out[number, 10], out[number, 11] = at, place - at
    out[number, 12], out[number, 13] = text, stop - text
    return 1


@kernel_lean
def take_apart(data: Any, entries: Any, times: Any, out: Any) -> int:
    """Fill `times` and `out` (columns above) for entries of the brokers' layout; return how many were taken apart."""
    count = 0
    for number in range(len(entries)):
        out[number, 0], out[number, 1], out[number, 9], out[number, 11], out[number, 13] = 2, -1, -1, 0, 0
        start, head_end, end = int(entries[number, 0]), int(entries[number, 1]), int(entries[number, 2])
        tail = min(head_end + 1, end)
        if head_end > start and data[head_end - 1] == 13:
            head_end -= 1
        times[number] = printed_time(data, start, head_end)
        if times[number] < 0:
            continue
        level, at = level_at(data, after_blanks(data, start + 25, head_end), head_end)
        out[number, 2] = level
        at = after_blanks(data, at, head_end)
        if at < head_end and data[at] in CLOSING:
            continue
        head_end = before_blanks(data, at, head_end)
        logger = logger_start(data, at, head_end)
        if logger < 0 or level < 0:
            continue
        message, logger_end = contexts_end(data, at, logger), name_end(data, logger + 2, head_end - 1)
        if logger_end < 0 or message < 0 or not is_plain(data, message, logger):
            continue
        out[number, 3], out[number, 4] = at, message - at
        out[number, 5], out[number, 6] = logger + 2, logger_end - logger - 2
        out[number, 7], out[number, 8] = message, logger - message
        out[number, 14] = thrown_at(data, tail, end, out, number)
        out[number, 15] = may_show_error(data, message, logger)
        out[number, 0] = 3
        count += 1
    return count


@kernel_lean
def recognise_texts(
    data: Any, pieces: Any, piece_bounds: Any, first_piece: Any, names: Any, name_bounds: Any, first_name: Any,
    keys: Any, first_candidate: Any, candidates: Any, place: int, out: Any, text: int, spans: int, result: int,
) -> int:  # fmt: skip
    """Write the numbers of the texts in column `text` of open entries into `result`; return how many are known.

    The texts are given as text/logs/tables.py has them; `place` 0: messages of lines, 1: of exceptions. -1 is written
    where none is known.
    """
    count = 0
    for number in range(len(out)):
        if out[number, 0] != 3 or (place == 1 and out[number, 14] != 1):
            continue
        at = after_blanks(data, int(out[number, text]), int(out[number, text]) + int(out[number, text + 1]))
        end = int(out[number, text]) + int(out[number, text + 1])
        while end > at and (byte_at(data, end - 1) == 32 or byte_at(data, end - 1) == 46):
            end -= 1
        name, name_stop = simple_name(data, int(out[number, 5]), int(out[number, 5]) + int(out[number, 6]))
        own, found = group_of(data, at, end, place, keys), -1
        for turn in range(2):
            group = own if turn == 0 else len(keys) + place
            if group < 0 or found >= 0:
                continue
            for candidate in range(first_candidate[group], first_candidate[group + 1]):
                pattern: int = candidates[candidate]
                first, last = first_name[pattern], first_name[pattern + 1]
                if last > first and not is_one_of(data, name, name_stop, names, name_bounds, first, last):
                    continue
                first, last = first_piece[pattern], first_piece[pattern + 1]
                if match_pieces(data, at, end, pieces, piece_bounds, first, last, out, number, spans):
                    found = pattern
                    break
        out[number, result] = found
        count += 1 if found >= 0 else 0
    return count


@kernel_lean
def name_end(data: Any, at: int, end: int) -> int:
    """Where the name of a logger ends (its line number is cut off); -1 if it is none of a class."""
    dots = 0
    for place in range(at, end):
        byte = byte_at(data, place)
        if byte == 46:
            dots += 1
            if place == at or place + 1 == end or data[place + 1] == 46 or data[place + 1] == 58:
                return -1
        if byte == 58:
            is_line = dots > 0 and 1 < end - place < 8 and digits(data, place + 1, end - place - 1) >= 0
            return place if is_line else -1
    return end if dots else -1


@kernel_lean
def has_lost_front(data: Any, at: int, end: int) -> bool:
    """Whether a message may begin with the rest of a bracket, or with one of another kind."""
    if at < end and data[at] == 60:
        return True
    for place in range(at, min(end, at + 900)):
        if data[place] == 91:
            return False
        if data[place] == 93:
            return True
    return False


for _kernel in (take_apart, recognise_texts):
    _kernel.follows = find_entries
