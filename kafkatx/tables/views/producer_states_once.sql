-- Each fact of `producer_states` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, position, topic, partition, snapshot_offset, producer_id, producer_epoch,
       last_sequence, last_offset, timestamp, coordinator_epoch, open_since_offset, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY producer_id, capture, topic, partition, snapshot_offset
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM producer_states
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
