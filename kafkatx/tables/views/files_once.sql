-- Each fact of `files` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, kind, topic, partition, base_offset, bytes, accounted_bytes, status,
       first_offset, last_offset, first_timestamp, last_timestamp, note, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY capture, broker_id, topic, partition, base_offset, path
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM files
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
