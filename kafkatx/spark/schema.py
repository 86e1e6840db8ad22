"""Arrow schemas as Spark's, by a map of our own: PySpark's is no public interface.

Every field may be null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import types

from kafkatx.tables.exported import COMMENT, FIELD_ID

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


def spark_schema(schema: Any, *, ids: bool = False) -> StructType:
    """Return the StructType of a pyarrow.Schema; raises TypeError for a type that no table of ours has.

    Comments of fields go with it, and with `ids` the numbers that Parquet files know columns by.
    """
    from pyspark.sql.types import StructType

    made = StructType()
    for field in schema:
        made.add(field.name, _spark_type(field.type, ids), metadata=_told(field, ids))
    return made


def _told(field: Any, ids: bool) -> dict[str, Any]:
    """What Spark keeps of the metadata of a field."""
    given = field.metadata or {}
    told: dict[str, Any] = {"comment": given[COMMENT].decode()} if COMMENT in given else {}
    return told | ({"parquet.field.id": int(given[FIELD_ID])} if ids and FIELD_ID in given else {})


def _spark_type(type_: Any, ids: bool) -> DataType:
    from pyspark.sql.types import ArrayType, TimestampType

    if types.is_struct(type_):
        return spark_schema(pa.schema(list(type_)), ids=ids)
    if types.is_list(type_):
        return ArrayType(_spark_type(type_.value_type, ids))
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
