"""How kafka-console-consumer ends when `--timeout-ms` has passed without a record: no failure at all.

It logs an error of its own and below it, without a word of its own, the exception that it throws to leave its loop.

Source    ConsoleConsumer.process, ConsumerWrapper.receive (0.11 to 4.3).
"""

from __future__ import annotations

from kafkatx.terms.regex import regex

ENDS = "Error processing message, terminating consumer process"
_BARE = regex(r"(?:[\w$]{1,60}\.){0,8}(?:Consumer)?TimeoutException:?")


def is_end_of_reading(logged: str, below: str) -> bool:
    """Whether a line and the one below it are the tool's, and say only that nothing came."""
    return ENDS in logged and _BARE.fullmatch(below.strip()) is not None
