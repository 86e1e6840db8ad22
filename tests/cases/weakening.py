"""What lost evidence may do to a diagnosis: take from it. A claim that is new, or surer than before, is one too many.

A finding of the cut evidence is supported if the whole evidence has one of its rule about the same subject that is at
least as sure and at least as severe. What needs support is whatever is proved, and whatever is likely and worth a
warning: a guess, and a likely remark (an open transaction of a log that breaks off), say that they may be wrong.
"""

from collections.abc import Iterator
from typing import Any

Finding = dict[str, Any]

VERDICTS = ("possible", "likely", "proved")
SEVERITIES = ("info", "warning", "error")


def overclaims(whole: list[Finding], cut: list[Finding], *, traced: bool) -> Iterator[str]:
    """Say which findings of the cut evidence the whole evidence does not support.

    A loss that leaves no trace makes an older copy, which rightly says what was the case then. Only where there are
    traces (`traced`) what was proved must still hold, and nothing may look graver than it is.
    """
    for finding in cut:
        if _needs_support(finding, traced) and not any(_supports(other, finding, traced) for other in whole):
            yield f"{finding['severity']} {finding['verdict']} {finding['rule']}: {finding['summary']}"


def _needs_support(finding: Finding, traced: bool) -> bool:
    if finding["severity"] == "info":
        return traced and finding["verdict"] == "proved"
    return finding["verdict"] != "possible"


def _supports(other: Finding, finding: Finding, traced: bool) -> bool:
    return (
        other["rule"] == finding["rule"]
        and _same_subject(other, finding)
        and VERDICTS.index(other["verdict"]) >= VERDICTS.index(finding["verdict"])
        and (not traced or SEVERITIES.index(other["severity"]) >= SEVERITIES.index(finding["severity"]))
    )


def _same_subject(one: Finding, other: Finding) -> bool:
    """Whether both are about one id, and nothing that is worth a warning is said of another partition."""
    places = [(finding["topic"], finding["partition"]) for finding in (one, other)]
    apart = all(None not in place for place in places) and places[0] != places[1]
    return not (apart and other["severity"] != "info") and bool(ids_of(one) & ids_of(other))


def ids_of(finding: Finding) -> set[Any]:
    """Return the ids that a finding is about."""
    about = [finding, *finding["subjects"]]
    return {value for part in about for value in (part["transactional_id"], part["producer_id"]) if value is not None}
