"""Which rows of a table are asked for: conditions on single columns, as options have them or as Spark pushes them down.

A condition is tested row by row, so that whoever asked need not test it again; null meets none but `unknown`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkatx.tables.columns import TIME
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import EPOCH

if TYPE_CHECKING:
    from pyspark.sql import Column

OF_NAMES = ("topic", "partition", "producer_id", "transactional_id")
"""Columns that rows are chosen by, beside all times."""

TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "in": lambda column, values: pc.is_in(column, value_set=values),
    ">": lambda column, values: pc.greater(column, values[0]),
    ">=": lambda column, values: pc.greater_equal(column, values[0]),
    "<": lambda column, values: pc.less(column, values[0]),
    "<=": lambda column, values: pc.less_equal(column, values[0]),
    "known": lambda column, values: pc.is_valid(column),
    "unknown": lambda column, values: pc.is_null(column),
}
PUSHED = {
    "EqualTo": "in",
    "EqualNullSafe": "in",
    "In": "in",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "IsNotNull": "known",
    "IsNull": "unknown",
}
"""Filters of Spark, by the names of their classes, and the tests that they are."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A column, one of TESTS, and what it is held against: text, numbers, times in microseconds."""

    column: str
    test: str
    values: tuple[Any, ...] = ()

    def rows(self, batch: Any) -> Any:
        """Whether each row of a RecordBatch meets it."""
        column = batch.column(self.column)
        return TESTS[self.test](column, pa.array(self.values, column.type))

    def may_be(self, value: Any) -> bool:
        """Whether rows that all have one value, or none, may meet it."""
        if self.test == "in":
            return value in self.values
        return (value is None) == (self.test == "unknown") or self.test not in ("known", "unknown")

    def of_frame(self, is_time: bool) -> Column:
        """The same as a column of Spark."""
        from pyspark.sql import functions as F

        column = F.col(f"`{self.column}`")
        values = [F.timestamp_micros(F.lit(value)) if is_time else F.lit(value) for value in self.values]
        if self.test == "in":
            return column.isin(*values)
        compared = {">": column.__gt__, ">=": column.__ge__, "<": column.__lt__, "<=": column.__le__}
        if self.test in compared:
            return compared[self.test](values[0])
        return column.isNotNull() if self.test == "known" else column.isNull()


def chosen(batch: Any, conditions: Iterable[Condition]) -> Any:
    """Return the rows of a RecordBatch that meet all conditions."""
    masks = [one.rows(batch) for one in conditions]
    return batch.filter(reduce(pc.and_kleene, masks)) if masks else batch


def of_filter(pushed: Any, schema: Any) -> Condition | None:
    """Return a filter that Spark pushes down as a condition; None where it is none that is tested here."""
    test = PUSHED.get(type(pushed).__name__)
    path: tuple[str, ...] = getattr(pushed, "attribute", ())
    if test is None or len(path) != 1 or path[0] not in schema.names:
        return None
    type_ = schema.field(path[0]).type
    if path[0] not in OF_NAMES and type_ != TIME:
        return None
    if test in ("known", "unknown"):
        return Condition(path[0], test)
    given = pushed.value if type(pushed).__name__ == "In" else [pushed.value]
    values = [_value(one, type_) for one in given if one is not None]
    if None in values or (not values and test != "in"):
        return None
    return None if _is_null_safe(pushed) and not values else Condition(path[0], test, tuple(values))


def _is_null_safe(pushed: Any) -> bool:
    return type(pushed).__name__ == "EqualNullSafe"


def _value(value: Any, type_: Any) -> Any:
    """A value as a column of the type holds it; None for one that it can't hold."""
    if type_ == TIME:
        is_instant = isinstance(value, datetime) and value.tzinfo is not None
        return (value - EPOCH) // timedelta(microseconds=1) if is_instant else None
    if pa.types.is_integer(type_):
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return value if is_whole and abs(value) < 1 << (type_.bit_width - 1) else None
    return value if isinstance(value, str) else None


def all_of(conditions: Iterable[Condition], schema: Any) -> Column:
    """Return conditions, at least one, as a column of Spark that says whether all are met."""
    return reduce(and_, [one.of_frame(schema.field(one.column).type == TIME) for one in conditions])
