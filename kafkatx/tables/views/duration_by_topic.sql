-- How long do transactions last that write to a topic: the median, the 99th percentile, the longest?
SELECT capture, topic, count(*) AS transactions,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY lasted_ms) AS median_ms,
       percentile_cont(0.99) WITHIN GROUP (ORDER BY lasted_ms) AS p99_ms, max(lasted_ms) AS longest_ms
FROM (
    SELECT DISTINCT capture, transactional_id, producer_id, started_at, lasted_ms, one.topic AS topic
    FROM (
        SELECT capture, transactional_id, producer_id, started_at, unix_millis(completed_at) - unix_millis(started_at) AS lasted_ms,
               explode(partitions) AS one
        FROM transactions_once
        WHERE completed_at IS NOT NULL AND started_at IS NOT NULL
    ) AS parts
) AS lasting
GROUP BY capture, topic
