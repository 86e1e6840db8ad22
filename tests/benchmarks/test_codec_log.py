import pyarrow as pa

import kafkatx
from tests.benchmarks import codec_log


def test_each_codec_holds_the_same_distinct_records(tmp_path):
    paths = codec_log.write(tmp_path, 1)
    tables = [pa.Table.from_batches(kafkatx.records(path)).to_pylist() for path in paths.values()]
    assert len(tables) == len(codec_log.CODECS)
    assert all(table == tables[0] for table in tables)
    assert len({record["value"] for record in tables[0]}) == len(tables[0])
    assert [record["record_offset"] for record in tables[0]] == list(range(len(tables[0])))
