-- How do transactions, aborts and their durations of a cluster change from month to month?
SELECT capture, started_month, transactions, aborted, aborted_percent, mean_ms,
       transactions - lag(transactions) OVER (PARTITION BY capture ORDER BY started_month) AS more_transactions,
       aborted_percent - lag(aborted_percent) OVER (PARTITION BY capture ORDER BY started_month) AS more_percent
FROM (
    SELECT capture, date_trunc('month', started_at) AS started_month, count(*) AS transactions,
           CAST(count_if(outcome IN ('aborted', 'aborting')) AS BIGINT) AS aborted,
           100e0 * count_if(outcome IN ('aborted', 'aborting')) / count(*) AS aborted_percent,
           avg(unix_millis(decided_at) - unix_millis(started_at)) AS mean_ms
    FROM transactions_once
    WHERE decided_at IS NOT NULL AND started_at IS NOT NULL
    GROUP BY capture, date_trunc('month', started_at)
) AS by_month
