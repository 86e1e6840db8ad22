-- Each fact of `markers` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, position, topic, partition, record_offset, timestamp, producer_id,
       producer_epoch, kind, coordinator_epoch, leader_epoch, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY topic, partition, capture, record_offset
        ORDER BY leader_epoch DESC NULLS LAST, exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM markers
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
