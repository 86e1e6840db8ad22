"""Arrow schemas as Spark's, by a map of our own: PySpark's is no public interface.

Every field may be null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import types

from kafkatx.tables.exported import COMMENT

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


def spark_schema(schema: Any) -> StructType:
    """Return the StructType of a pyarrow.Schema; raises TypeError for a type that no table of ours has.

    Comments of fields go with it.
    """
    from pyspark.sql.types import StructType

    made = StructType()
    for field in schema:
        told = {"comment": field.metadata[COMMENT].decode()} if COMMENT in (field.metadata or {}) else {}
        made.add(field.name, _spark_type(field.type), metadata=told)
    return made


def _spark_type(type_: Any) -> DataType:
    from pyspark.sql.types import ArrayType, TimestampType

    if types.is_struct(type_):
        return spark_schema(pa.schema(list(type_)))
    if types.is_list(type_):
        return ArrayType(_spark_type(type_.value_type))
    if type_ == pa.timestamp("us", tz="UTC"):
        return TimestampType()
    return _plain(type_)


def _plain(type_: Any) -> DataType:
    from pyspark.sql import types as spark

    known: dict[Any, DataType] = {
        pa.int8(): spark.ByteType(),
        pa.int16(): spark.ShortType(),
        pa.int32(): spark.IntegerType(),
        pa.int64(): spark.LongType(),
        pa.bool_(): spark.BooleanType(),
        pa.string(): spark.StringType(),
        pa.binary(): spark.BinaryType(),
    }
    if type_ not in known:
        raise TypeError(f"no type of Spark is declared for {type_}")
    return known[type_]
