"""The command line: commands by name, and exit codes (contract, section 2)."""

from __future__ import annotations

import gc
import io
import sys
from typing import Annotated

import typer

from kafkatx.cli.collect import collect
from kafkatx.cli.compare import compare
from kafkatx.cli.diagnose import diagnose
from kafkatx.cli.dump import dump
from kafkatx.cli.explain import EXPLAIN_SETTINGS, explain
from kafkatx.cli.export import export
from kafkatx.cli.history import history
from kafkatx.cli.locate import locate
from kafkatx.cli.report import report
from kafkatx.cli.streams import discard_output
from kafkatx.cli.verify import verify
from kafkatx.terms.errors import ClosedPipeError, KafkatxError

app = typer.Typer(
    name="kafkatx",
    help="Forensics for Kafka transactions: reads what brokers left on disk, offline and read only, and "
    "says what went wrong.",
    epilog="Exit codes: 0 done, 1 a finding at --fail-on or damage (verify), 2 wrong usage, 3 nothing "
    "readable, 4 output not written, 130 interrupted.",
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


def _version(wanted: bool) -> None:
    if wanted:
        from kafkatx import __version__

        typer.echo(f"kafkatx {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a bug of ours.")] = False,
) -> None:
    """Take the options that stand before a command."""


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
    sys.exit(code)


def _run() -> int:
    output = sys.stdout
    try:
        app(standalone_mode=True)
    except SystemExit as end:
        # where the pipe of --help was closed, rich ends so, and typer wraps standard output
        closed = isinstance(end.__context__, BrokenPipeError) or sys.stdout is not output
        return 0 if closed or not isinstance(end.code, int) else end.code
    except ClosedPipeError as error:
        return error.exit_code
    except KafkatxError as error:
        if "--debug" in sys.argv and error.exit_code == KafkatxError.exit_code:
            raise
        _complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        _complain(f"this is a bug of kafkatx ({type(error).__name__}: {error}); --debug before the command shows where")
        return 70
    return 0


def _complain(text: str) -> None:
    from kafkatx.terms.printable import printable
    from kafkatx.terms.secrets import without_credentials

    sys.stderr.write(f"kafkatx: {printable(without_credentials(text))}\n")
