-- Each fact of `settings` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, line, scope, client_id, transactional_id, name, value, default_value,
       origin, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY capture, scope, client_id, transactional_id, path, line, name
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM settings
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
