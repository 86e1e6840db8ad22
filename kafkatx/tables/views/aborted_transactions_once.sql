-- Each fact of `aborted_transactions` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, position, topic, partition, producer_id, first_offset, last_offset,
       last_stable_offset, version, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY topic, partition, capture, last_offset
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM aborted_transactions
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
