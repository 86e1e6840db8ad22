"""The options of kafka-dump-log, which `kafkatx dump` takes as well."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kafkatx.terms.records import dataclass

if TYPE_CHECKING:
    from kafkatx.outputs.dump_options import DecoderName, DumpOptions

LARGEST_INT = (1 << 31) - 1

Tool = partial(typer.Option, rich_help_panel="Options of kafka-dump-log")


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """What the tool can be asked for."""

    files_option: Annotated[str | None, Tool("--files", metavar="FILE,...", help="Files to dump.")] = None
    deep_iteration: Annotated[bool, Tool("--deep-iteration", help="Show records, too.")] = False
    print_data_log: Annotated[bool, Tool("--print-data-log", help="Show records with keys and values.")] = False
    transaction_log_decoder: Annotated[bool, Tool("--transaction-log-decoder", help="Read __transaction_state.")] = (
        False
    )
    offsets_decoder: Annotated[bool, Tool("--offsets-decoder", help="Read __consumer_offsets.")] = False
    cluster_metadata_decoder: Annotated[bool, Tool("--cluster-metadata-decoder", help="Read __cluster_metadata.")] = (
        False
    )
    share_group_state_decoder: Annotated[
        bool, Tool("--share-group-state-decoder", help="Read __share_group_state.")
    ] = False
    remote_log_metadata_decoder: Annotated[
        bool,
        Tool(
            "--remote-log-metadata-decoder",
            help="Show records, those of __remote_log_metadata decoded.",
        ),
    ] = False
    key_decoder_class: Annotated[
        str | None, Tool("--key-decoder-class", metavar="CLASS", help="StringDecoder, IntegerDecoder or LongDecoder.")
    ] = None
    value_decoder_class: Annotated[
        str | None, Tool("--value-decoder-class", metavar="CLASS", help="The same for values.")
    ] = None
    skip_record_metadata: Annotated[bool, Tool("--skip-record-metadata", help="Only keys and values of records.")] = (
        False
    )
    max_bytes: Annotated[
        int | None, Tool("--max-bytes", min=0, max=LARGEST_INT, metavar="N", help="Only the first N bytes of each log.")
    ] = None
    verify_index_only: Annotated[bool, Tool("--verify-index-only", help="Check indexes without their entries.")] = False
    index_sanity_check: Annotated[
        bool, Tool("--index-sanity-check", help="Say whether a broker would rebuild an index.")
    ] = False
    max_message_size: Annotated[
        int | None, Tool("--max-message-size", metavar="N", help="Accepted for the tool's sake; any size is read.")
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
            DecoderName.REMOTE_LOG_METADATA: self.remote_log_metadata_decoder,
            DecoderName.SHARE_GROUP_STATE: self.share_group_state_decoder,
        }
        return next((name for name, is_wanted in wanted.items() if is_wanted), None)
