"""Times that are blotted out of lines: where they may stand is learnt once of lines that differ in digits only."""

from hypothesis import example, given
from hypothesis import strategies as st

from kafkatx.text.logs import printed_times
from kafkatx.text.logs.printed_times import without_times

DATED, EPOCH = "2026-11-21 10:23:51,003", "1795256939.072"
OTHERS = ["0000-99-99T99:99:99.123456789", "2795256939.072", f"{EPOCH}1", f"{DATED} +0100", f"{DATED}1234567"]
PIECES = st.sampled_from([DATED, EPOCH, *OTHERS, "1", "07", ".003", "-", " ", ": took 17 ms", "é"])
ZEROS = str.maketrans("0123456789", "0" * 10)


def one_by_one(line: str) -> str:
    """The same by looking for each time of the line itself."""
    pieces, at = [], 0
    for found in printed_times.times_in(line):
        pieces += [line[at : found.start()], found[0].translate(ZEROS)]
        at = found.end()
    return "".join([*pieces, line[at:]])


@given(st.lists(PIECES | st.text("0123456789.,:- T+", max_size=6), max_size=8).map("".join))
@example("1795256939.072 2795256939.072 1795256939.072")
def test_times_are_blotted_out_wherever_they_stand_and_nothing_else(line: str) -> None:
    for digit in "12":  # the second one is of a kind that is known already
        text = line.replace("1", digit)
        assert without_times(text.encode()) == one_by_one(text).encode()
