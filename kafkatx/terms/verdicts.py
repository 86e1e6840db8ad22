"""How sure we are, and how bad it is: two independent scales."""

from enum import IntEnum


class Verdict(IntEnum):
    """How sure a finding is.

    proved: no other reading of the evidence is known; likely: one look-alike can't be tested; possible: two or more.
    """

    possible = 0
    likely = 1
    proved = 2


class Severity(IntEnum):
    """How bad a finding is.

    error: data lost, invisible or blocked, or an application down; warning: it will become one, or work was thrown
    away.
    """

    info = 0
    warning = 1
    error = 2
