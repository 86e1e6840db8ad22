"""Which error of the protocol a name is: a class, a constant, or what another language makes of it."""

from __future__ import annotations

from functools import cache

from kafkatx.terms.catalogue.entries import ProtocolError, plain_name, simple_name
from kafkatx.terms.catalogue.loading import error_codes
from kafkatx.terms.error_codes import error_code, letters_of

REACTIONS = {"fatal": "fatal", "abortable": "abortable", "retried": "retriable"}
"""What a transactional producer makes of an error (errors.tsv), as the category of a failure."""


def protocol_error(name: str, message: str = "") -> ProtocolError | None:
    """The protocol's error that a class or a constant of any client names.

    A class that two errors share over the releases is told by its message, else it is that of new releases.
    """
    plain = plain_name(name).casefold()
    found = _protocol_errors().get(plain, ())
    if not found and (code := error_code(name)) > 0:
        found = tuple(error for error in error_codes() if error.code == code)
    found = found or _by_letters().get(letters_of(plain), ())
    said = [error for error in found if message and any(message.startswith(one.text) for one in error.messages)]
    return next(iter(said or found), None)


def reaction_of(known: ProtocolError | None) -> str:
    """What an error means to a producer of any release, where that is one thing."""
    return REACTIONS.get(known.reaction, "unknown") if known is not None else "unknown"


@cache
def _protocol_errors() -> dict[str, tuple[ProtocolError, ...]]:
    """Errors by their name and by the simple names of their classes, that of the newest release first."""
    found: dict[str, list[ProtocolError]] = {}
    for error in reversed(error_codes()):
        names = [error.name, *(simple_name(stated.text) for stated in error.exceptions)]
        for name in dict.fromkeys(name.casefold() for name in names):
            found.setdefault(name, []).append(error)
    return {name: tuple(errors) for name, errors in found.items()}


@cache
def _by_letters() -> dict[str, tuple[ProtocolError, ...]]:
    """Errors by what all spellings of their names share: `UnknownServerError` of Go is UNKNOWN_SERVER_ERROR."""
    return {letters_of(error.name): (error,) for error in error_codes()}
