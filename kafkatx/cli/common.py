"""Options that commands share, each declared once and in groups, and where results are written to."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_type_hints

import typer

from kafkatx.cli.streams import standard_output, trimmed
from kafkatx.terms.errors import ClosedPipeError, OutputError, UsageError

if TYPE_CHECKING:
    from rich.console import Console


class Format(StrEnum):
    """How results are written."""

    text = "text"
    json = "json"


class Colour(StrEnum):
    """When results are coloured."""

    auto = "auto"
    always = "always"
    never = "never"


Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Data directories of brokers, single files, dump output, logs, settings, archives, URLs of "
        "object stores (s3://bucket/folder); - for standard input.",
        show_default=False,
    ),
]
BrokerPaths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Data directories of brokers, folders of several, partition folders, single files, archives of these, "
        "URLs of object stores (s3://bucket/folder); - for standard input.",
        show_default=False,
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to write the result.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
OutOption = Annotated[
    str | None, typer.Option("--out", "-o", metavar="FILE", help="Write the result to FILE instead of standard output.")
]
ColourOption = Annotated[Colour, typer.Option("--color", help="When to colour text; NO_COLOR is honoured.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="No progress and no warnings.")]
SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Only what happened at or after TIME (ISO 8601, UTC).")
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Only what happened at or before TIME.")
]
AsOfOption = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="'Now' for ages; default: the end of the evidence.")
]
IdOption = Annotated[
    str | None, typer.Option("--id", "--transactional-id", metavar="TXID", help="Only this transactional.id.")
]
ProducerOption = Annotated[int | None, typer.Option("--producer-id", metavar="N", help="Only this producer id.")]
TopicOption = Annotated[str | None, typer.Option("--topic", help="Only this topic.")]
PartitionOption = Annotated[int | None, typer.Option("--partition", help="Only this partition.")]
VerifyOption = Annotated[
    bool, typer.Option("--verify", help="Check the CRC of every batch, not only of those that matter.")
]
LogZoneOption = Annotated[
    str | None,
    typer.Option(
        "--log-zone",
        metavar="ZONE",
        help="Zone of log times that name none, like +08:00 or Asia/Shanghai; default: estimated, else UTC.",
    ),
]
CaptureOption = Annotated[
    list[str] | None,
    typer.Option("--capture", metavar="NAME=PATH", help="Force PATH into the capture NAME; may be repeated."),
]
ReleaseOption = Annotated[
    str | None,
    typer.Option(
        "--kafka-version", metavar="VERSION", help="Release of the brokers, where the evidence does not tell it."
    ),
]


@dataclass(frozen=True, slots=True)
class ScopeOptions:
    """Whom, where and when: what a diagnosis and a history can be limited to."""

    transactional_id: IdOption = None
    producer_id: ProducerOption = None
    topic: TopicOption = None
    partition: PartitionOption = None
    since: SinceOption = None
    until: UntilOption = None

    def limits(self) -> dict[str, Any]:
        """Return the limits by name, times in milliseconds; raises UsageError."""
        times = {"since": time_option("--since", self.since), "until": time_option("--until", self.until)}
        return {field.name: getattr(self, field.name) for field in fields(self)} | times


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How evidence is read, and what is known beside it."""

    as_of: AsOfOption = None
    verify: VerifyOption = False
    capture: CaptureOption = None
    log_zone: LogZoneOption = None

    def values(self) -> dict[str, Any]:
        """Return what the functions behind the commands are called with; raises UsageError."""
        return {
            "as_of": time_option("--as-of", self.as_of),
            "verify_all": self.verify,
            "captures": capture_option(self.capture),
            "log_zone_ms": zone_option(self.log_zone),
        }


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """How and where a result is written."""

    output_format: FormatOption = Format.text
    json_output: JsonOption = False
    out: OutOption = None
    color: ColourOption = Colour.auto
    quiet: QuietOption = False

    @property
    def as_json(self) -> bool:
        """Whether JSON is written."""
        return self.json_output or self.output_format is Format.json


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer: each group of options that it takes stands there as its fields, in its place."""
    hints = get_type_hints(command, include_extras=True)
    given = inspect.signature(command).parameters.values()
    groups = {one.name: hints[one.name] for one in given if is_dataclass(hints[one.name])}
    shown = [
        parameter
        for one in given
        for parameter in (
            _fields_of(groups[one.name]) if one.name in groups else [one.replace(annotation=hints[one.name])]
        )
    ]

    @functools.wraps(command)
    def called(**values: Any) -> None:
        made = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **made)

    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in shown]
    called.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in keyword}
    return called


def _fields_of(group: Any) -> Iterator[inspect.Parameter]:
    """The fields of a group of options as parameters."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        kind = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(field.name, kind, default=default, annotation=hints[field.name])


def time_option(name: str, text: str | None) -> int | None:
    """Milliseconds of a time option; raises UsageError for what is no time."""
    from kafkatx.terms.times import parse_time

    if text is None:
        return None
    try:
        return parse_time(text)
    except ValueError:
        raise UsageError(f"{name}: {text!r} is no time; write it like 2026-11-21T10:29:00Z") from None


def zone_option(text: str | None) -> int | None:
    """Milliseconds that a zone lies ahead of UTC; raises UsageError for what is no zone."""
    from kafkatx.terms.times import parse_zone

    if text is None:
        return None
    try:
        return parse_zone(text)
    except ValueError:
        raise UsageError(f"--log-zone {text}: write it like +08:00, UTC or Asia/Shanghai") from None


def capture_option(values: list[str] | None) -> dict[str, str]:
    """Path to name of each `--capture NAME=PATH`; raises UsageError for another form."""
    from kafkatx.sources.places import shown

    forced = {}
    for value in values or []:
        name, _, path = value.partition("=")
        if not name or not path or "://" in name:
            raise UsageError(f"--capture {value}: write it as NAME=PATH")
        forced[shown(path)] = name
    return forced


@contextlib.contextmanager
def output(out: str | None, evidence: list[str]) -> Iterator[TextIO]:
    """Standard output, or FILE written whole or not at all; refuses a FILE inside the evidence, which is read only.

    Raises OutputError where it can't be written.
    """
    if out is None:
        with standard_output() as stream:
            yield stream
        return
    target = outside(out, evidence)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("w", encoding="utf-8") as stream:
            yield stream
        draft.replace(target)
    except OSError as error:
        raise OutputError(f"{out} could not be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def outside(out: str, evidence: list[str]) -> Path:
    """The absolute path of --out; raises UsageError for a place inside the evidence, which is read only, and a URL."""
    from kafkatx.sources.places import is_url, shown

    if "://" in out:
        raise UsageError("--out takes a path of this machine, no URL: write there, then copy it to the store")
    target, read = Path(out).absolute(), [shown(path) for path in evidence if path != "-"]
    if any(target.resolve().is_relative_to(Path(path).resolve()) for path in read if not is_url(path)):
        raise UsageError(f"--out {out} lies inside the evidence, which is only read; choose another place")
    return target


def console_for(stream: TextIO, colour: Colour) -> Console:
    """Return a console on `stream`: coloured on a terminal unless NO_COLOR is set, else 80 columns wide and trimmed."""
    from rich.console import Console

    class PipeConsole(Console):
        """Says that a pipe was closed, where rich would exit with 1."""

        def on_broken_pipe(self) -> None:
            raise ClosedPipeError

    forced = {Colour.always: True, Colour.never: False, Colour.auto: None}[colour]
    no_colour = colour is Colour.never or (colour is Colour.auto and bool(os.environ.get("NO_COLOR")))
    return PipeConsole(
        file=trimmed(stream),
        force_terminal=forced,
        no_color=no_colour or None,
        width=None if stream.isatty() or "COLUMNS" in os.environ else 80,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int], None] | None]:
    """Progress on standard error, on a terminal only, for work longer than a second.

    Yields what to call before each file.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    ticker = _Ticker()
    try:
        yield ticker.tick
    finally:
        ticker.clear()


class _Ticker:
    """One line that is rewritten."""

    def __init__(self) -> None:
        import time

        self._time = time.monotonic
        self._begin = self._last = time.monotonic()
        self._bytes = self._files = 0
        self._shown = False

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def tick(self, path: str, size: int) -> None:
        """Count a file; show where we are at most five times a second, after the first second."""
        from kafkatx.terms.printable import printable

        self._files, self._bytes, now = self._files + 1, self._bytes + size, self._time()
        if now - self._begin > 1 and now - self._last > 0.2:
            self._last, self._shown = now, True
            name = printable(path)[-44:]
            sys.stderr.write(f"\r\x1b[K{self._files:,} files, {self._bytes / 1e6:,.0f} MB  {name}")
            sys.stderr.flush()
