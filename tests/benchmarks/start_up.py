"""What a command costs before there is much to read: whole processes, bytecode present, against what is wanted."""

import sys
from collections.abc import Iterator

from tests.benchmarks import measure
from tests.benchmarks.comparisons import Figure

RUNS = 9
CASE = "fixtures/k39-fenced"
PAGE = "fixtures/pages/java/abortable_from_new_broker_on_produce.md"
COMPLETED = ("_KAFKATX_COMPLETE=complete_bash", "COMP_WORDS=kafkatx dia", "COMP_CWORD=1")
COMMANDS = {
    "--version": (measure.kafkatx("--version"), 0.12),
    "--help": (measure.kafkatx("--help"), 0.12),
    "a word completed in bash": (["env", *COMPLETED, *measure.kafkatx()], 0.12),
    "explain proved": (measure.kafkatx("explain", "proved"), None),
    f"verify {CASE}": (measure.kafkatx("verify", CASE), None),
    "diagnose a page of text": (measure.kafkatx("diagnose", PAGE), None),
    f"diagnose {CASE}": (measure.kafkatx("diagnose", CASE), 0.45),
}
"""Commands, and CPU seconds that they may take."""


def start_up() -> Iterator[Figure]:
    """CPU of small commands, least of RUNS, beside a Python that does nothing."""
    nothing = [sys.executable, "-c", "pass"]
    empty, *costs = measure.alternately([nothing, *(command for command, _ in COMMANDS.values())], RUNS)
    for (name, (_, wanted)), cost in zip(COMMANDS.items(), costs, strict=True):
        asked = "" if wanted is None else f"< {wanted:.2f} s"
        holds = None if wanted is None else cost.cpu_s < wanted
        yield Figure(name, f"{cost.cpu_s:.3f} s CPU", f"{empty.cpu_s:.3f} s CPU", "", asked, holds)
