"""`kafkatx dump FILE...`: what kafka-dump-log shows, of damaged files too, offline and without Java."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from kafkatx.cli.common import Format, FormatOption, JsonOption, OutOption, QuietOption, output
from kafkatx.terms.errors import NothingReadableError, UsageError

if TYPE_CHECKING:
    from kafkatx.outputs.dump_options import DumpOptions

LARGEST_INT = (1 << 31) - 1
GATHERED = 1 << 16
"""Characters written at once."""

TOOL = "Options of kafka-dump-log"


def dump(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Log segments, indexes, snapshots, checkpoints; a folder stands for all files in it.",
            show_default=False,
        ),
    ] = None,
    files_option: Annotated[
        str | None, typer.Option("--files", metavar="FILE,...", help="Files to dump.", rich_help_panel=TOOL)
    ] = None,
    deep_iteration: Annotated[
        bool, typer.Option("--deep-iteration", help="Show records, too.", rich_help_panel=TOOL)
    ] = False,
    print_data_log: Annotated[
        bool, typer.Option("--print-data-log", help="Show records with keys and values.", rich_help_panel=TOOL)
    ] = False,
    transaction_log_decoder: Annotated[
        bool, typer.Option("--transaction-log-decoder", help="Read __transaction_state.", rich_help_panel=TOOL)
    ] = False,
    offsets_decoder: Annotated[
        bool, typer.Option("--offsets-decoder", help="Read __consumer_offsets.", rich_help_panel=TOOL)
    ] = False,
    cluster_metadata_decoder: Annotated[
        bool, typer.Option("--cluster-metadata-decoder", help="Read __cluster_metadata.", rich_help_panel=TOOL)
    ] = False,
    share_group_state_decoder: Annotated[
        bool, typer.Option("--share-group-state-decoder", help="Read __share_group_state.", rich_help_panel=TOOL)
    ] = False,
    remote_log_metadata_decoder: Annotated[
        bool,
        typer.Option(
            "--remote-log-metadata-decoder",
            help="Show records of __remote_log_metadata (their content is not decoded).",
            rich_help_panel=TOOL,
        ),
    ] = False,
    key_decoder_class: Annotated[
        str | None,
        typer.Option(
            "--key-decoder-class",
            metavar="CLASS",
            help="StringDecoder, IntegerDecoder or LongDecoder.",
            rich_help_panel=TOOL,
        ),
    ] = None,
    value_decoder_class: Annotated[
        str | None,
        typer.Option("--value-decoder-class", metavar="CLASS", help="The same for values.", rich_help_panel=TOOL),
    ] = None,
    skip_record_metadata: Annotated[
        bool, typer.Option("--skip-record-metadata", help="Only keys and values of records.", rich_help_panel=TOOL)
    ] = False,
    max_bytes: Annotated[
        int | None,
        typer.Option(
            "--max-bytes",
            min=0,
            max=LARGEST_INT,
            metavar="N",
            help="Only the first N bytes of each log.",
            rich_help_panel=TOOL,
        ),
    ] = None,
    verify_index_only: Annotated[
        bool, typer.Option("--verify-index-only", help="Check indexes without their entries.", rich_help_panel=TOOL)
    ] = False,
    index_sanity_check: Annotated[
        bool,
        typer.Option("--index-sanity-check", help="Say whether a broker would rebuild an index.", rich_help_panel=TOOL),
    ] = False,
    max_message_size: Annotated[
        int | None,
        typer.Option(
            "--max-message-size",
            metavar="N",
            help="Accepted for the tool's sake; any size is read.",
            rich_help_panel=TOOL,
        ),
    ] = None,
    output_format: FormatOption = Format.text,
    json_output: JsonOption = False,
    out: OutOption = None,
    quiet: QuietOption = False,
) -> None:
    """Show every field of every file, batch and record, in the lines of kafka-dump-log (4.3) or as JSON lines.

    Without the tool's own options everything is shown: records, keys and values, internal topics decoded. With any of
    them the output is what the tool prints for exactly those. Damage is told on standard error and never ends a dump.
    """
    paths = [*(files_option.split(",") if files_option else []), *(files or [])]
    if not paths:
        raise UsageError("nothing to dump: name a file, for example kafkatx dump orders-0/00000000000000000000.log")
    decoders = (
        offsets_decoder,
        transaction_log_decoder,
        cluster_metadata_decoder,
        remote_log_metadata_decoder,
        share_group_state_decoder,
    )
    if remote_log_metadata_decoder:
        complain("the records of __remote_log_metadata are shown as they are: their content is not decoded")
    options = tool_options(
        decoders,
        (key_decoder_class, value_decoder_class),
        deep=deep_iteration,
        data=print_data_log,
        skip_record_metadata=skip_record_metadata,
        verify_index_only=verify_index_only,
        index_sanity_check=index_sanity_check,
        max_bytes=max_bytes,
        as_tool=files_option is not None or max_message_size is not None,
    )
    write(paths, options, output_format is Format.json or json_output, out, quiet)


def tool_options(
    decoders: tuple[bool, ...], classes: tuple[str | None, str | None], max_bytes: int | None, **flags: bool
) -> DumpOptions:
    """Return what the tool does with its own options; with none of them everything is shown.

    Args:
        decoders: whether those of offsets, transactions, metadata, tiered storage and share groups were asked for; of
            several the first one counts, as in the tool.
        classes: decoder classes of keys and values.
        max_bytes: bytes of a log to read, None for all.
        flags: the other options, by the names of DumpOptions.
    """
    from kafkatx.outputs.dump_options import NO_LIMIT, DecoderName, DumpOptions

    if not (any(decoders) or any(classes) or max_bytes is not None or any(flags.values())):
        return DumpOptions()
    names = ("OFFSETS", "TRANSACTION_LOG", "CLUSTER_METADATA", "PLAIN", "SHARE_GROUP_STATE")
    chosen = next((name for name, wanted in zip(names, decoders, strict=True) if wanted), "PLAIN")
    data = flags["data"] or any(decoders) or any(classes)
    return DumpOptions(
        decoder=DecoderName[chosen],
        key_decoder_class=classes[0],
        value_decoder_class=classes[1],
        max_bytes=NO_LIMIT if max_bytes is None else max_bytes,
        **flags | {"as_tool": True, "data": data, "deep": flags["deep"] or data},
    )


def write(paths: list[str], options: DumpOptions, as_json: bool, out: str | None, quiet: bool) -> None:
    """Dump the files to standard output or FILE; raises UsageError, NothingReadableError, OutputError."""
    from kafkatx.outputs.dump import Dump

    with output(out, paths) as stream:
        options = replace(options, escape=stream.isatty())
        dump = Dump(options, as_json, (lambda text: None) if quiet else complain)
        gathered, size = [], 0
        for piece in dump.pieces(paths):
            gathered.append(piece)
            size += len(piece)
            if size > GATHERED:
                _write(stream, gathered)
                gathered, size = [], 0
        _write(stream, gathered)
    if not dump.shown:
        raise NothingReadableError("nothing of what was given could be read as one of a broker's files")


def _write(stream: TextIO, pieces: list[str]) -> None:
    """Write UTF-8 whatever the locale says: keys and values are what they are."""
    data = "".join(pieces).encode("utf-8", "surrogateescape")
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(data.decode("utf-8", "replace"))
        return
    stream.flush()
    buffer.write(data)
    buffer.flush()


def complain(text: str) -> None:
    """Write a line to standard error."""
    from kafkatx.terms.printable import printable

    sys.stderr.write(f"{printable(text)}\n")
