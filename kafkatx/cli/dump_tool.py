"""The options of kafka-dump-log, which `kafkatx dump` takes as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kafkatx.outputs.dump_options import DecoderName, DumpOptions

LARGEST_INT = (1 << 31) - 1

TOOL = "Options of kafka-dump-log"


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """What the tool can be asked for."""

    files_option: Annotated[
        str | None, typer.Option("--files", metavar="FILE,...", help="Files to dump.", rich_help_panel=TOOL)
    ] = None
    deep_iteration: Annotated[
        bool, typer.Option("--deep-iteration", help="Show records, too.", rich_help_panel=TOOL)
    ] = False
    print_data_log: Annotated[
        bool, typer.Option("--print-data-log", help="Show records with keys and values.", rich_help_panel=TOOL)
    ] = False
    transaction_log_decoder: Annotated[
        bool, typer.Option("--transaction-log-decoder", help="Read __transaction_state.", rich_help_panel=TOOL)
    ] = False
    offsets_decoder: Annotated[
        bool, typer.Option("--offsets-decoder", help="Read __consumer_offsets.", rich_help_panel=TOOL)
    ] = False
    cluster_metadata_decoder: Annotated[
        bool, typer.Option("--cluster-metadata-decoder", help="Read __cluster_metadata.", rich_help_panel=TOOL)
    ] = False
    share_group_state_decoder: Annotated[
        bool, typer.Option("--share-group-state-decoder", help="Read __share_group_state.", rich_help_panel=TOOL)
    ] = False
    remote_log_metadata_decoder: Annotated[
        bool,
        typer.Option(
            "--remote-log-metadata-decoder",
            help="Show records of __remote_log_metadata (their content is not decoded).",
            rich_help_panel=TOOL,
        ),
    ] = False
    key_decoder_class: Annotated[
        str | None,
        typer.Option(
            "--key-decoder-class",
            metavar="CLASS",
            help="StringDecoder, IntegerDecoder or LongDecoder.",
            rich_help_panel=TOOL,
        ),
    ] = None
    value_decoder_class: Annotated[
        str | None,
        typer.Option("--value-decoder-class", metavar="CLASS", help="The same for values.", rich_help_panel=TOOL),
    ] = None
    skip_record_metadata: Annotated[
        bool, typer.Option("--skip-record-metadata", help="Only keys and values of records.", rich_help_panel=TOOL)
    ] = False
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
    ] = None
    verify_index_only: Annotated[
        bool, typer.Option("--verify-index-only", help="Check indexes without their entries.", rich_help_panel=TOOL)
    ] = False
    index_sanity_check: Annotated[
        bool,
        typer.Option("--index-sanity-check", help="Say whether a broker would rebuild an index.", rich_help_panel=TOOL),
    ] = False
    max_message_size: Annotated[
        int | None,
        typer.Option(
            "--max-message-size",
            metavar="N",
            help="Accepted for the tool's sake; any size is read.",
            rich_help_panel=TOOL,
        ),
    ] = None

    def options(self) -> DumpOptions:
        """Return what the tool does with these; with none of them everything is shown.

        Of several decoders the first one counts, as in the tool; a decoder shows data, and data are shown deep.
        """
        from kafkatx.outputs.dump_options import NO_LIMIT, DecoderName, DumpOptions

        if self == ToolOptions():
            return DumpOptions()
        decoder = self._decoder()
        data = self.print_data_log or decoder is not None or bool(self.key_decoder_class or self.value_decoder_class)
        return DumpOptions(
            deep=self.deep_iteration or data,
            data=data,
            decoder=decoder or DecoderName.PLAIN,
            key_decoder_class=self.key_decoder_class,
            value_decoder_class=self.value_decoder_class,
            skip_record_metadata=self.skip_record_metadata,
            max_bytes=NO_LIMIT if self.max_bytes is None else self.max_bytes,
            verify_index_only=self.verify_index_only,
            index_sanity_check=self.index_sanity_check,
            as_tool=True,
        )

    def _decoder(self) -> DecoderName | None:
        """The decoder that was asked for."""
        from kafkatx.outputs.dump_options import DecoderName

        wanted = {
            DecoderName.OFFSETS: self.offsets_decoder,
            DecoderName.TRANSACTION_LOG: self.transaction_log_decoder,
            DecoderName.CLUSTER_METADATA: self.cluster_metadata_decoder,
            DecoderName.PLAIN: self.remote_log_metadata_decoder,
            DecoderName.SHARE_GROUP_STATE: self.share_group_state_decoder,
        }
        return next((name for name, is_wanted in wanted.items() if is_wanted), None)
