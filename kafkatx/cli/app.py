"""The command line: commands by name, and exit codes (contract, section 2)."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import typer

from kafkatx.cli.command import REFUSED, ByNeed, GeneralOptions, Group, Program
from kafkatx.cli.grouping import grouped
from kafkatx.cli.program import PROGRAM
from kafkatx.cli.streams import discard_output
from kafkatx.terms.errors import ClosedPipeError, KafkatxError
from kafkatx.terms.kept import keep_all

COMMANDS = ("diagnose", "history", "locate", "compare", "dump", "verify", "collect", "export", "report", "explain")
"""The commands, in the order of the help: functions, each in the module of its name."""


class Commands(Group):
    """The program with its commands, each of which is made when it is asked for."""

    def __init__(self, **settings: Any) -> None:
        registered = settings.pop("commands", None) or {}
        super().__init__(**settings, commands=ByNeed({name: f"kafkatx.cli.{name}" for name in COMMANDS}, registered))


app = Program(
    name=PROGRAM,
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
@grouped
def _program(*, general: GeneralOptions) -> None:
    """Forensics for Kafka transactions: say what went wrong and prove it.

    Reads what brokers left on disk, dumps, logs and settings; offline, and only reading.

    Examples:
      kafkatx diagnose /var/lib/kafka/data
      kafkatx diagnose broker-1.tgz server.log app.log
      kafkatx explain ProducerFencedException
    """


def main() -> None:
    """Run the command line; the only place where an exception becomes an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names are what they are, whatever the locale can show
    code = _run()
    try:
        sys.stdout.flush()
    except OSError:
        discard_output()
    keep_all()
    sys.exit(code)


def _run() -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads for algebra that nobody does: 30 ms
    try:
        return _ended()
    except ClosedPipeError as error:
        return error.exit_code
    except REFUSED as error:
        return _refuse(error)
    except KafkatxError as error:
        if "--debug" in sys.argv and error.exit_code == KafkatxError.exit_code:
            raise
        _complain(str(error), *error.advice)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        _complain(f"this is a bug of kafkatx ({type(error).__name__}: {error}); --debug shows where")
        return 70


def _ended() -> int:
    """Run the command; returns the exit code that it ended with."""
    output = sys.stdout
    try:
        code = app(prog_name=PROGRAM, standalone_mode=False)
    except SystemExit as end:
        # where the pipe of --help was closed, typer wraps standard output and ends
        return 0 if sys.stdout is not output or not isinstance(end.code, int) else end.code
    return code if isinstance(code, int) else 0


def _refuse(error: Exception) -> int:
    """Tell a wrong command line; none at all is answered with the help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(f"{error}\n")
    else:
        from kafkatx.cli.usage_errors import usage_error

        refused = usage_error(error)
        _complain(str(refused), *refused.advice)
    return 2


def _complain(*lines: str) -> None:
    from kafkatx.terms.printable import printable
    from kafkatx.terms.secrets import without_credentials

    first, *others = [printable(without_credentials(line)) for line in lines]
    sys.stderr.write("\n  ".join([f"{PROGRAM}: {first}", *others]) + "\n")
