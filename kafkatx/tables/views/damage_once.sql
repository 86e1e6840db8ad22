-- Each fact of `damage` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, position, topic, partition, kind, bytes, expected, found, run_id,
       exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY topic, partition, capture, broker_id, path, position, kind
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM damage
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
