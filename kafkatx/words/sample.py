"""Sample facts, made of the types of their fields: every sentence can be read and tested without an incident."""

from __future__ import annotations

from dataclasses import is_dataclass, make_dataclass
from enum import Enum
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from kafkatx.histories.logs.settings import Effective, default_of
from kafkatx.terms.catalogue.frameworks import Framework, FrameworkName
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.config_context import ConfigContext
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Bound, MeasureWords
from kafkatx.words.values import Count, Data, Duration, Instant, JoinedValues, NameList, OffsetRange, Quoted, Share

_AT = 1_795_000_000_000
_VALUES: dict[type, Any] = {
    Count: Count(3), Instant: Instant(_AT), Duration: Duration(64_000), Share: Share(12),
    int: 7, bool: True, float: 1.5,
    Data: Data((OffsetRange("orders", 0, 118, 121, Count(4)),)), NameList: NameList(("orders-0", "orders-1")),
    Quoted: Quoted("the words of a line"), object: "something",
    ConfigContext: ConfigContext(framework=Framework(FrameworkName.STREAMS_V2, Verdict.proved, "client.id")),
    Effective: default_of("producer", "transaction.timeout.ms"),
}  # fmt: skip


def sample(kind: type[Any]) -> Any:
    """Return an object of a facts class, with a value in every field."""
    hints = _hints(kind)
    return kind(**{name: _value(hints[name], name) for name in kind.__dataclass_fields__})


def sample_with_item(kind: type[Any], field: str) -> Any:
    """Return sample facts beside one item of a field, as parts that are said for each see them."""
    whole, item = sample(kind), item_type(kind, field)
    names = [name for name in dir(kind) if not name.startswith("_")]
    scope = make_dataclass("Scope", [*names, "each"])
    return scope(*(getattr(whole, name) for name in names), _value(item, "each"))


def item_type(kind: type[Any], field: str) -> Any:
    """Return the type of the items of a field; raises AttributeError where there is none of that name."""
    if field not in _hints(kind):
        raise AttributeError(field)
    return get_args(_hints(kind)[field])[0]


def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(hint: Any, name: str) -> Any:
    if get_origin(hint) in (Union, UnionType):
        return _value(next(one for one in get_args(hint) if one is not type(None)), name)
    if get_origin(hint) is tuple:
        return _tuple(get_args(hint), name)
    if get_origin(hint) is JoinedValues:
        return JoinedValues(_tuple(get_args(hint), name))
    if get_origin(hint) is Bound:
        return Bound(MeasureWords("<measured>"), None)
    if hint in _VALUES:
        return _VALUES[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(one for one in hint if one.value != "")
    if is_dataclass(hint):
        return sample(hint)  # type: ignore[arg-type]
    return hint(f"<{name}>") if isinstance(hint, type) and issubclass(hint, str) else None


def _tuple(kinds: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if kinds[0] is EvidenceRef or get_origin(kinds[0]) is Bound:
        return ()
    return tuple(_value(kind, name) for kind in kinds if kind is not Ellipsis)
