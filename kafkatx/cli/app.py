"""The command line: commands by name, and exit codes (contract, section 2)."""

from __future__ import annotations

import gc
import io
import os
import sys

import typer

from kafkatx.cli.collect import collect
from kafkatx.cli.command import REFUSED, GeneralOptions, Group, Program
from kafkatx.cli.compare import compare
from kafkatx.cli.diagnose import diagnose
from kafkatx.cli.dump import dump
from kafkatx.cli.explain import EXPLAIN_SETTINGS, explain
from kafkatx.cli.export import export
from kafkatx.cli.grouping import grouped
from kafkatx.cli.history import history
from kafkatx.cli.locate import locate
from kafkatx.cli.program import PROGRAM
from kafkatx.cli.report import report
from kafkatx.cli.streams import discard_output
from kafkatx.cli.verify import verify
from kafkatx.terms.errors import ClosedPipeError, KafkatxError
from kafkatx.terms.kept_patterns import PATTERNS

app = Program(
    name=PROGRAM,
    cls=Group,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(diagnose)
app.command()(history)
app.command()(locate)
app.command()(compare)
app.command()(dump)
app.command()(verify)
app.command()(collect)
app.command()(export)
app.command()(report)
app.command(context_settings=EXPLAIN_SETTINGS)(explain)


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
    gc.disable()  # a command makes next to no cycles, and collecting while numba is imported costs a tenth of a second
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names are what they are, whatever the locale can show
    code = _run()
    try:
        sys.stdout.flush()
    except OSError:
        discard_output()
    PATTERNS.keep()
    gc.freeze()  # what is there goes with the process: looking for cycles in it once more costs another tenth
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
