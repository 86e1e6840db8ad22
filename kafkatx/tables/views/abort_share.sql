-- Which share of its transactions does each transactional.id abort, hour by hour, and who ends them?
SELECT capture, transactional_id, date_trunc('hour', started_at) AS started_hour, count(*) AS decided,
       CAST(count_if(outcome IN ('aborted', 'aborting')) AS BIGINT) AS aborted,
       100e0 * count_if(outcome IN ('aborted', 'aborting')) / count(*) AS aborted_percent,
       CAST(count_if(ended_by = 'timeout') AS BIGINT) AS ended_by_timeout,
       CAST(count_if(ended_by = 'new_instance') AS BIGINT) AS ended_by_new_instance
FROM transactions_once
WHERE outcome IN ('committed', 'committing', 'aborted', 'aborting')
GROUP BY capture, transactional_id, date_trunc('hour', started_at)
