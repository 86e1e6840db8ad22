"""Options that commands share, each declared once and in groups, and what their values mean."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import typer

from kafkatx.cli import completion
from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass

Limit = partial(typer.Option, rich_help_panel="Limits")
Given = partial(typer.Option, rich_help_panel="Evidence")
Output = partial(typer.Option, rich_help_panel="Output")
"""Options under a heading of their own in the help."""


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
        "object stores (s3://bucket/folder); - for standard input; orders-0=FILE for what lost its name.",
        show_default=False,
    ),
]
BrokerPaths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Data directories of brokers, folders of several, partition folders, single files, archives of these, "
        "URLs of object stores (s3://bucket/folder); - for standard input; orders-0=FILE for what lost its name.",
        show_default=False,
    ),
]
AsOption = Annotated[
    str | None,
    Given(
        "--as",
        metavar="KIND",
        autocompletion=completion.kinds,
        help="What the files given hold, whatever their names and content say: log, index, timeindex, txnindex, "
        "snapshot, leader-epochs, meta.properties or text. For one file of several write KIND=FILE.",
    ),
]
FormatOption = Annotated[Format, Output("--format", help="How to write the result.")]
JsonOption = Annotated[bool, Output("--json", help="Short for --format json.")]
OutOption = Annotated[
    str | None, Output("--out", "-o", metavar="FILE", help="Write the result to FILE instead of standard output.")
]
ColourOption = Annotated[Colour, Output("--color", help="When to colour text; NO_COLOR is honoured.")]
QuietOption = Annotated[bool, Output("--quiet", "-q", help="No progress and no warnings.")]
VerboseOption = Annotated[
    bool, Output("--verbose", "-v", help="Also every file that was met, and whatever is cut short otherwise.")
]
AsOfOption = Annotated[
    str | None, Given("--as-of", metavar="TIME", help="'Now' for ages; default: the end of the evidence.")
]
VerifyOption = Annotated[bool, Given("--verify", help="Check the CRC of every batch, not only of those that matter.")]
CaptureOption = Annotated[
    list[str] | None,
    Given("--capture", metavar="NAME=PATH", help="Force PATH into the capture NAME; may be repeated."),
]
ReleaseOption = Annotated[
    str | None,
    Given("--kafka-version", metavar="VERSION", help="Release of the brokers, where the evidence does not tell it."),
]


@dataclass(frozen=True, slots=True)
class ScopeOptions:
    """Whom, where and when: what a diagnosis and a history can be limited to."""

    transactional_id: Annotated[
        str | None,
        Limit(
            "--id",
            "--transactional-id",
            metavar="TXID",
            autocompletion=completion.transactional_ids,
            help="Only this transactional.id.",
        ),
    ] = None
    producer_id: Annotated[int | None, Limit("--producer-id", metavar="N", help="Only this producer id.")] = None
    topic: Annotated[
        str | None, Limit("--topic", metavar="TOPIC", autocompletion=completion.topics, help="Only this topic.")
    ] = None
    partition: Annotated[int | None, Limit("--partition", metavar="N", help="Only this partition.")] = None
    since: Annotated[
        str | None, Limit("--since", metavar="TIME", help="Only what happened at or after TIME (ISO 8601, UTC).")
    ] = None
    until: Annotated[str | None, Limit("--until", metavar="TIME", help="Only what happened at or before TIME.")] = None

    def limits(self) -> dict[str, Any]:
        """Return the limits by name, times in milliseconds; raises UsageError."""
        times = {"since": time_option("--since", self.since), "until": time_option("--until", self.until)}
        if times["since"] is not None and times["until"] is not None and times["since"] > times["until"]:
            raise UsageError(f"--since {self.since} is later than --until {self.until}: nothing lies between them")
        return {field.name: getattr(self, field.name) for field in fields(self)} | times


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How evidence is read, and what is known beside it."""

    as_of: AsOfOption = None
    verify: VerifyOption = False
    capture: CaptureOption = None
    as_kind: AsOption = None
    log_zone: Annotated[
        str | None,
        Given(
            "--log-zone",
            metavar="ZONE",
            help="Zone of log times that name none, like +08:00 or Asia/Shanghai; default: estimated, else UTC.",
        ),
    ] = None

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


def as_option(paths: list[str], kind: str | None) -> list[str]:
    """Return the paths, each said to hold a kind where one was given; raises UsageError for what is none."""
    from kafkatx.evidence.claims import KINDS

    if kind is None:
        return paths
    if kind not in KINDS:
        from kafkatx.terms.nearest import did_you_mean

        meant = did_you_mean(kind, KINDS)
        raise UsageError(f"--as {kind}: there is no such kind of file", [meant or f"the kinds are {', '.join(KINDS)}"])
    return [f"{kind}={path}" for path in paths]


def release_option(text: str | None) -> tuple[int, ...]:
    """The numbers of a release of Kafka, none where it was not given; raises UsageError for what is none."""
    from kafkatx.terms.catalogue.releases import parse_release

    return parse_release(text).numbers if text is not None else ()


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
    except ValueError as error:
        why = str(error) if str(error) != text else "write it like +08:00, UTC or Asia/Shanghai"
        raise UsageError(f"--log-zone {text}: {why}") from None


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
