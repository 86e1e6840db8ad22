"""`kafkatx explain WORD`: what a rule, an error, a state, a setting, a term, a KIP or a log line means, by release.

Heavy imports stand inside the functions, so that `kafkatx --help` stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kafkatx.cli import completion
from kafkatx.cli.destination import console_for, output
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import OutputOptions
from kafkatx.terms.errors import UsageError

if TYPE_CHECKING:
    from kafkatx.outputs.explain_word import Answer

SETTINGS = {"ignore_unknown_options": True}
"""Context settings to register the command with: `-1` and `-144` are error codes, not options."""


@grouped
def explain(
    word: Annotated[
        list[str],
        typer.Argument(
            metavar="WORD...",
            autocompletion=completion.explained,
            help="A finding, an error of any client, a state, a setting, a term, a KIP, a verdict, or a log line.",
        ),
    ],
    kafka_version: Annotated[
        str | None,
        typer.Option("--kafka-version", metavar="VERSION", help="Tell only what holds for this release, e.g. 2.8."),
    ] = None,
    *,
    result: OutputOptions,
) -> None:
    """Explain a finding, an error of any client, a state, setting, term, KIP or log line: what it means, what to do.

    Several words are one phrase; quote a log line that has brackets or quotation marks. Answers differ by release of
    Kafka: --kafka-version leaves the others out.

    Examples:
      kafkatx explain fenced_by_new_instance
      kafkatx explain ProducerFencedException
      kafkatx explain 47 --kafka-version 2.8
      kafkatx explain transaction.timeout.ms
      kafkatx explain LSO
      kafkatx explain KIP-890
      kafkatx explain likely
    """
    found = _answer(" ".join(word), kafka_version)
    with output(result.out, []) as stream:
        if result.as_json:
            from kafkatx.outputs.explain_text import to_json

            stream.write(to_json(found))
        else:
            from kafkatx.outputs.explain_text import print_answer

            print_answer(found, console_for(stream, result.color))


def _answer(phrase: str, kafka_version: str | None) -> Answer:
    from kafkatx.outputs.explain_text import unknown_text
    from kafkatx.outputs.explain_word import answer
    from kafkatx.terms.catalogue.releases import parse_release

    if not phrase.strip():
        raise UsageError("nothing to explain: give a word, a code or a log line")
    found = answer(phrase, parse_release(kafka_version) if kafka_version is not None else None)
    if not found.is_known:
        told, *suggestions = unknown_text(found)
        raise UsageError(told, suggestions)
    return found
