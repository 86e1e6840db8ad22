-- Which ids come near their transaction.timeout.ms, and how near? What is still open lasts to the end of the evidence.
SELECT capture, transactional_id, timeout_ms, count(*) AS transactions, max(lasted_ms) AS longest_ms,
       100e0 * max(lasted_ms) / timeout_ms AS longest_percent,
       CAST(count_if(lasted_ms >= 0.8 * timeout_ms) AS BIGINT) AS above_80_percent
FROM (
    SELECT t.capture, t.transactional_id, t.timeout_ms,
           unix_millis(coalesce(t.decided_at, c.evidence_end)) - unix_millis(t.started_at) AS lasted_ms
    FROM transactions_once AS t
    JOIN captures_once AS c ON c.capture = t.capture
    WHERE t.started_at IS NOT NULL AND t.timeout_ms > 0 AND t.outcome <> 'lost'
) AS lasting
GROUP BY capture, transactional_id, timeout_ms
