"""Groups of options: typer shows their fields in place of the group, and the command gets the group."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from kafkatx.cli.grouping import grouped


@dataclass(frozen=True)
class EvidenceRef:
    topic: Annotated[str | None, typer.Option("--topic", help="A topic.")] = None
    partition: Annotated[int, typer.Option("--partition")] = 0


def run(*arguments):
    seen = []

    @grouped
    def command(
        paths: Annotated[list[str], typer.Argument()],
        before: Annotated[bool, typer.Option("--before")] = False,
        *,
        place: EvidenceRef,
        after: Annotated[bool, typer.Option("--after")] = False,
    ) -> None:
        """Say where."""
        seen.append((paths, before, place, after))

    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(arguments)), seen


def test_a_group_is_made_of_its_options():
    result, seen = run("a", "b", "--partition", "3", "--topic", "orders", "--after")
    assert result.exit_code == 0
    assert seen == [(["a", "b"], False, EvidenceRef("orders", 3), True)]


def test_what_is_not_given_has_the_default_of_the_group():
    assert run("a")[1] == [(["a"], False, EvidenceRef(), False)]


def test_its_options_stand_where_the_group_stands():
    shown = run("--help")[0].output
    assert shown.index("--before") < shown.index("--topic") < shown.index("--partition") < shown.index("--after")
    assert "A topic." in shown
    assert "Say where." in shown
