-- Each fact of `transactions` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, transactional_id, producer_id, producer_epoch, protocol, started_at,
       decided_at, completed_at, outcome, ended_by, verdict, timeout_ms, partitions, records, bytes,
       state_partition, begin_offset, decision_offset, completion_offset, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY capture, transactional_id, producer_id, started_at
        ORDER BY completed_at DESC NULLS LAST, decided_at DESC NULLS LAST, records DESC NULLS LAST, exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM transactions
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
