-- How many records of a partition does a read_committed consumer never get, and how many not yet?
SELECT capture, topic, partition, CAST(sum(CASE WHEN kind = 'COMMIT' THEN records ELSE 0 END) AS BIGINT) AS committed,
       CAST(sum(CASE WHEN kind = 'ABORT' THEN records ELSE 0 END) AS BIGINT) AS aborted,
       CAST(sum(CASE WHEN kind IS NULL THEN records ELSE 0 END) AS BIGINT) AS without_marker,
       CAST(sum(CASE WHEN kind = 'ABORT' THEN bytes ELSE 0 END) AS BIGINT) AS aborted_bytes
FROM spans_of_producers
GROUP BY capture, topic, partition
