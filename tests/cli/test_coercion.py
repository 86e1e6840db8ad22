"""Words that are read without pydantic are read as typer would; what is not plain is left to it."""

from typing import Any

import pytest
import typer.main

from kafkatx.cli.app import app
from kafkatx.cli.coercion import read_plainly

VALUES: tuple[Any, ...] = (
    None, "", "7", "-7", "+7", "7.0", " 7", "\u0667", "9" * 30, "text", "error", "ERROR", "never", "local", "spark",
    True, False, 7, ["a", "b"], ("a",), [], (), ["7"],
)  # fmt: skip


def parameters() -> list[tuple[str, Any, Any]]:
    """Name, and parameter twice: as typer makes it, and as we use it."""
    found = []
    for name in typer.main.get_command(app).commands:  # type: ignore[attr-defined]
        plain, ours = (typer.main.get_command(app).commands[name] for _ in range(2))  # type: ignore[attr-defined]
        pairs = zip(plain.params, ours.params, strict=True)
        found += [(f"{name} {one.name}", one, read_plainly(other)) for one, other in pairs]
    return [one for one in found if hasattr(one[1], "type_descriptor") and one[1].name != "version"]


def outcome(parameter: Any, value: Any, context: Any) -> Any:
    try:
        return parameter.process_value(context, value)
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.skipif(not parameters(), reason="this release of typer reads words without pydantic")
def test_words_are_read_as_typer_reads_them():
    command = typer.main.get_command(app)
    context = command.make_context("kafkatx", ["explain", "proved"], resilient_parsing=True)
    for name, typers, ours in parameters():
        for value in VALUES:
            wanted, read = (outcome(one, value, context) for one in (typers, ours))
            is_empty = wanted in ((), [], None) and read in ((), [], None)
            assert is_empty or (read == wanted and type(read) is type(wanted)), (name, value)
