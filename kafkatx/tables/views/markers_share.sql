-- Which share of a partition's records and bytes are markers of transactions, no data?
SELECT capture, topic, partition, CAST(sum(record_count) AS BIGINT) AS records,
       CAST(sum(CASE WHEN is_control THEN record_count ELSE 0 END) AS BIGINT) AS markers,
       100e0 * sum(CASE WHEN is_control THEN record_count ELSE 0 END) / sum(record_count) AS markers_percent,
       100e0 * sum(CASE WHEN is_control THEN size ELSE 0 END) / sum(size) AS bytes_percent
FROM batches_once
GROUP BY capture, topic, partition
HAVING sum(record_count) > 0 AND sum(CASE WHEN is_transactional THEN 1 ELSE 0 END) > 0
