-- Each fact of `not_checkable` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, rule, scope, missing, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY capture, rule, scope, missing
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM not_checkable
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
