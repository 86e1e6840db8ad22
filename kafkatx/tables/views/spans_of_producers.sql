-- Which stretch of a partition did a producer write until one marker ended it, and how did it end?
-- Without a marker it is open: its transaction, or nobody's any more.
SELECT d.capture, d.topic, d.partition, d.producer_id, min(d.base_offset) AS first_offset,
       max(d.last_offset) AS last_offset, CAST(sum(d.record_count) AS BIGINT) AS records,
       CAST(sum(d.size) AS BIGINT) AS bytes,
       min(d.max_timestamp) AS first_time, d.marker_offset, max(m.timestamp) AS marked_at, max(m.kind) AS kind
FROM (
    SELECT *, min(CASE WHEN is_control THEN base_offset END) OVER (
        PARTITION BY capture, topic, partition, producer_id ORDER BY base_offset
        ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
    ) AS marker_offset
    FROM batches_once
    WHERE is_transactional
) AS d
LEFT JOIN markers_once AS m
    ON m.capture = d.capture AND m.topic = d.topic AND m.partition = d.partition AND m.record_offset = d.marker_offset
WHERE NOT d.is_control
GROUP BY d.capture, d.topic, d.partition, d.producer_id, d.marker_offset
