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
from kafkatx.kernels.engine import kernel, kernel_lean
from kafkatx.kernels.literals import find_entries, logger_start, without_return
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
        if data[place] == 91:
            depth += 1
        elif data[place] == 93:
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


@kernel_lean
def equals(data: Any, at: int, pieces: Any, start: int, size: int) -> bool:
    """Whether the `size` bytes of `pieces` from `start` stand at `at`."""
    for place in range(size):  # noqa: SIM110 (numba knows no generators)
        if data[at + place] != pieces[start + place]:
            return False
    return True


@kernel_lean
def match_pieces(
    data: Any, at: int, end: int, pieces: Any, bounds: Any, first: int, last: int, spans: Any, column: int
) -> bool:
    """Whether the message data[at:end) is the text of pieces `first` to `last` (excluded); its values into `spans`."""
    begin = at
    for piece in range(first, last):
        start, size = bounds[piece], bounds[piece + 1] - bounds[piece]
        place = end - size if piece == last - 1 and piece > first else at
        highest = end - size if piece > first else at
        if place < at or place + size > end:
            return False
        while place <= highest and not equals(data, place, pieces, start, size):
            place += 1
        if place > highest:
            return False
        number = piece - first - 1
        if 0 <= number < 14:
            spans[column + 2 * number] = at
            spans[column + 2 * number + 1] = place - at
        at = place + size
    return at == end and begin <= at


@kernel_lean
def is_one_of(data: Any, at: int, end: int, names: Any, bounds: Any, first: int, last: int) -> bool:
    """Whether the simple name of the logger data[at:end) is one of the names `first` to `last` (excluded)."""
    while end > at and data[end - 1] == 36:
        end -= 1
    start = at
    for place in range(at, end):
        if data[place] == 46:
            start = place + 1
    for name in range(first, last):
        low, high = bounds[name], bounds[name + 1]
        if high - low == end - start and equals(data, start, names, low, high - low):
            return True
    return False


@kernel_lean
def recognise(
    data: Any, at: int, end: int, logger: int, logger_end: int, table: Any, place: int, spans: Any, column: int
) -> int:
    """Number of the text that the message data[at:end) is, -1 if it is none; `place` 0: of lines, 1: of exceptions."""
    pieces, piece_bounds, first_piece, names, name_bounds, first_name, keys, first_candidate, candidates = table
    while at < end and data[at] == 32:
        at += 1
    while end > at and (data[end - 1] == 32 or data[end - 1] == 46):
        end -= 1
    row = -1
    if end - at >= 4:
        key = data[at] * 16777216 + data[at + 1] * 65536 + data[at + 2] * 256 + data[at + 3] + place * 4294967296
        low, high = 0, len(keys)
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        if low < len(keys) and keys[low] == key:
            row = low
    for turn in range(2):
        group = row if turn == 0 else len(keys) + place
        if group < 0:
            continue
        for number in range(first_candidate[group], first_candidate[group + 1]):
            pattern: int = candidates[number]
            first, last = first_name[pattern], first_name[pattern + 1]
            if last > first and not is_one_of(data, logger, logger_end, names, name_bounds, first, last):
                continue
            if match_pieces(
                data, at, end, pieces, piece_bounds, first_piece[pattern], first_piece[pattern + 1], spans, column
            ):
                return pattern
    return -1


@kernel_lean
def line_end(data: Any, at: int, end: int) -> int:
    """Where the line ends that begins at `at`."""
    while at < end and data[at] != 10:
        at += 1
    return at


@kernel_lean
def class_end(data: Any, at: int, end: int) -> int:
    """Where the name of a class ends that begins at `at`: letters, digits, `.`, `$` and `_`."""
    while at < end and (
        97 <= data[at] <= 122
        or 65 <= data[at] <= 90
        or 48 <= data[at] <= 57
        or data[at] == 46
        or data[at] == 36
        or data[at] == 95
    ):
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
def thrown_at(data: Any, at: int, end: int, out: Any) -> int:
    """Class and text of the exception that the lines data[at:end) show.

    1: found, the spans written to `out`; 0: there are only blank lines; -1: for the slow path.
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
    out[10], out[11] = at, place - at
    out[12], out[13] = text, stop - text
    return 1


@kernel
def take_apart(data: Any, entries: Any, times: Any, out: Any) -> int:
    """Fill `times` and `out` (columns above) for entries of the brokers' layout; return how many were taken apart."""
    count = 0
    for number in range(len(entries)):
        row = out[number]
        row[0], row[1], row[9], row[11], row[13] = 2, -1, -1, 0, 0
        start, head_end, end = int(entries[number, 0]), int(entries[number, 1]), int(entries[number, 2])
        tail = min(head_end + 1, end)
        if head_end > start and data[head_end - 1] == 13:
            head_end -= 1
        times[number] = printed_time(data, start, head_end)
        if times[number] < 0:
            continue
        row[2], at = level_at(data, after_blanks(data, start + 25, head_end), head_end)
        at = after_blanks(data, at, head_end)
        if at < head_end and data[at] in CLOSING:
            continue
        head_end = before_blanks(data, at, head_end)
        logger = logger_start(data, at, head_end)
        if logger < 0 or row[2] < 0:
            continue
        message, logger_end = contexts_end(data, at, logger), name_end(data, logger + 2, head_end - 1)
        if logger_end < 0 or message < 0 or not is_plain(data, message, logger):
            continue
        row[3], row[4] = at, message - at
        row[5], row[6] = logger + 2, logger_end - logger - 2
        row[7], row[8] = message, logger - message
        row[14] = thrown_at(data, tail, end, row)
        row[15] = may_show_error(data, message, logger)
        row[0] = 3
        count += 1
    return count


@kernel
def recognise_texts(data: Any, table: Any, place: int, out: Any, text: int, spans: int, result: int) -> int:
    """Write the numbers of the texts in column `text` of open entries into `result`; return how many are known.

    `table` are the texts (text/logs/tables.py); `place` 0: messages of lines, 1: of exceptions.
    """
    count = 0
    for number in range(len(out)):
        row = out[number]
        if row[0] == 3 and (place == 0 or row[14] == 1):
            at = row[text]
            row[result] = recognise(data, at, at + row[text + 1], row[5], row[5] + row[6], table, place, row, spans)
            count += 1 if row[result] >= 0 else 0
    return count


@kernel_lean
def name_end(data: Any, at: int, end: int) -> int:
    """Where the name of a logger ends (its line number is cut off); -1 if it is none of a class."""
    dots = 0
    for place in range(at, end):
        if data[place] == 46:
            dots += 1
            if place == at or place + 1 == end or data[place + 1] == 46 or data[place + 1] == 58:
                return -1
        if data[place] == 58:
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


@kernel_lean
def numbers_of(data: Any, starts: Any, lengths: Any, values: Any) -> None:
    """Numbers as Java and Scala print them (`5`, `Some(5)`, `OptionalInt[5]`); -1 for what is none or negative."""
    for number in range(len(starts)):
        at, end = starts[number], starts[number] + lengths[number]
        values[number] = -1
        while at < end and data[at] == 32:
            at += 1
        while end > at and data[end - 1] == 32:
            end -= 1
        if end - at > 5 and data[at] == 83 and data[at + 1] == 111 and data[at + 2] == 109 and data[at + 3] == 101:
            at += 4
        elif end - at > 9 and data[at] == 79 and data[at + 1] == 112 and data[at + 2] == 116 and data[at + 7] == 108:
            at += 8
            while at < end and (97 <= data[at] <= 122 or 65 <= data[at] <= 90):
                at += 1
        if at < end and (data[at] == 40 or data[at] == 91):
            at += 1
        if end > at and (data[end - 1] == 41 or data[end - 1] == 93):
            end -= 1
        if 0 < end - at < 19:
            values[number] = digits(data, at, end - at)


@kernel_lean
def split_partitions(data: Any, starts: Any, lengths: Any, partitions: Any) -> None:
    """Shorten spans of `topic-partition` to the topic and write the partitions; -1 where there is none."""
    for number in range(len(starts)):
        start, end = starts[number], starts[number] + lengths[number]
        at = end
        while at > start and 48 <= data[at - 1] <= 57:
            at -= 1
        partitions[number] = -1
        if 0 < end - at < 11 and at > start and data[at - 1] == 45:
            partitions[number] = digits(data, at, end - at)
            lengths[number] = at - 1 - start


for _kernel in (take_apart, recognise_texts, numbers_of, split_partitions):
    _kernel.follows = find_entries
