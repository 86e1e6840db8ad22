"""Texts under careless hands: lines of dumps, logs and settings lost, repeated, shuffled, cut, wrapped, of another
zone, files interleaved or put into one.

What stands in a trial: `case`, `below` (folders of texts), `acts` as of `mangling.Mangling`, `layout`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import zip_longest
from pathlib import Path

from tests.cases import mangling
from tests.cases.mangling import DUMPS, LOGS, Mangling, Texts, laid, write
from tests.fuzz.oracle import Trial, case_named, drawn_from, false_claims, told
from tests.fuzz.watching import again
from tests.text.pasting import PREFIXES, broken_at, folded_at, prefixed

CONFIG = "config"
EVIDENCE = ((DUMPS,), (DUMPS,), (LOGS,), (LOGS,), (DUMPS, LOGS), (DUMPS, LOGS, CONFIG), (LOGS, CONFIG))
WHERE = ("", "__transaction_state", DUMPS, LOGS, "client", "server", "-0/", "-1/", CONFIG)
SIZES = (1, 5, 10, 30, 100, 300, 500, 800)
WIDTHS = (60, 72, 80, 100, 120, 132, 160, 200, 250)
STAMP = re.compile(r"\b(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d:\d\d)")

Act = Callable[[list[str], Mangling], list[str]]


def _shuffled(lines: list[str], act: Mangling) -> list[str]:
    first = len(lines) * act.at // 1_000
    end = min(len(lines), first + max(2, len(lines) * act.size // 1_000))
    middle = lines[first:end]
    random.Random(act.to).shuffle(middle)
    return [*lines[:first], *middle, *lines[end:]]


def _scattered(lines: list[str], act: Mangling) -> list[str]:
    """Lines lost by lot."""
    lot = random.Random(act.to)
    return [line for line in lines if lot.randrange(1_000) >= act.size]


def _wrapped(lines: list[str], act: Mangling) -> list[str]:
    return broken_at(WIDTHS[act.at % len(WIDTHS)])(lines)


def _folded(lines: list[str], act: Mangling) -> list[str]:
    return folded_at(WIDTHS[act.at % len(WIDTHS)], ("", "> ")[act.to % 2])(lines)


def _prefixed(lines: list[str], act: Mangling) -> list[str]:
    return prefixed(PREFIXES[sorted(PREFIXES)[act.at % len(PREFIXES)]])(lines)


def _zoned(lines: list[str], act: Mangling) -> list[str]:
    """Times of a log as a process in another zone would have printed them: by half hours, up to 12."""
    shift = timedelta(minutes=30 * (act.at % 49 - 24))

    def moved(found: re.Match[str]) -> str:
        try:
            return (datetime.fromisoformat(f"{found[1]}T{found[3]}") + shift).isoformat(found[2])
        except (ValueError, OverflowError):
            return found[0]

    return [STAMP.sub(moved, line) for line in lines]


OWN: dict[str, Act] = {
    "shuffled": _shuffled, "scattered": _scattered, "wrapped": _wrapped, "folded": _folded, "prefixed": _prefixed,
    "zoned": _zoned,
}  # fmt: skip
"""What is done beside the kinds of `mangling`."""
ONLY_LOGS = ("zoned",)
INTERLEAVED = "interleaved"
LAYOUTS = ("apart", "apart", "apart", *mangling.ONE_FILE, INTERLEAVED)


def drawn(seed: int, collection: bool = False) -> Trial:
    """Return the trial of a seed."""
    lot = random.Random(seed)
    case, below = lot.choice(drawn_from(collection)), list(lot.choice(EVIDENCE))
    kinds = sorted({*mangling.KINDS, *OWN})
    acts = [
        [lot.choice(kinds), lot.choice(WHERE), lot.randrange(1_000), lot.choice(SIZES), lot.randrange(1_000)]
        for _ in range(lot.choice((1, 1, 2, 3)))
    ]
    return {"case": case, "below": below, "acts": acts, "layout": lot.choice(LAYOUTS)}


def given(trial: Trial) -> Texts:
    """Return the texts of a trial as they are left."""
    found = dict(mangling.texts(trial["case"], tuple(trial["below"])))
    for act in (Mangling(*values) for values in trial["acts"]):
        for path in (path for path in found if act.where in path and found[path]):
            if act.kind not in ONLY_LOGS or not path.startswith(DUMPS):
                found[path] = OWN[act.kind](found[path], act) if act.kind in OWN else act.of(found[path])
    return interleaved(found) if trial["layout"] == INTERLEAVED else laid(found, trial["layout"])


def interleaved(found: Texts) -> Texts:
    """Dumps as they are; the lines of the logs in turns of five, as of programs that write to one terminal."""
    apart = {path: lines for path, lines in found.items() if path.startswith(DUMPS)}
    logs = [found[path] for path in sorted(found) if path not in apart]
    turns = [[lines[at : at + 5] for at in range(0, len(lines), 5)] for lines in logs]
    mixed = [line for turn in zip_longest(*turns, fillvalue=[]) for lines in turn for line in lines]
    return {**apart, "all.log": mixed} if mixed else apart


def faults(trial: Trial, folder: Path) -> Iterator[str]:
    """Say what went wrong with a trial, in a folder of its own."""
    assert case_named(trial["case"])
    paths = write(given(trial), folder)
    again()
    yield from false_claims(trial["case"], told(paths), traced=False)
