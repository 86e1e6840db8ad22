"""Our exceptions: the user asked for something that can't be done. Bad evidence is never one of them."""

from collections.abc import Sequence


class KafkatxError(Exception):
    """Base of all errors that kafkatx raises on purpose; its text is meant for the user.

    `advice` are lines of their own below the text: what to do, or what there is to choose from.
    """

    exit_code = 70

    def __init__(self, text: str = "", advice: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.advice = tuple(advice)


class UsageError(KafkatxError):
    """A wrong option or argument; the text says what to do instead."""

    exit_code = 2


class NothingReadableError(KafkatxError):
    """Nothing in what was given could be read as evidence."""

    exit_code = 3


class ClosedPipeError(KafkatxError):
    """Whoever reads standard output has had enough: an end like any other, without a word."""

    exit_code = 0


class OutputError(KafkatxError):
    """A result could not be written where it was asked for."""

    exit_code = 4


class EngineError(KafkatxError):
    """The engine failed, or the machines that it runs on: neither the evidence nor kafkatx is to blame.

    What is known of where it failed: `stage`, what the task was doing; `file`, the one that it had opened last;
    `worker`, its machine; `memory_bytes`, what it held then.
    """

    exit_code = 5

    def __init__(
        self,
        text: str = "",
        advice: Sequence[str] = (),
        *,
        stage: str | None = None,
        file: str | None = None,
        worker: str | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        super().__init__(text, advice)
        self.stage, self.file, self.worker, self.memory_bytes = stage, file, worker, memory_bytes
