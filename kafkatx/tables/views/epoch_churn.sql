-- How many producer ids and epochs does each id use up in a day, and how high is its epoch? At 32,766 it gets a new id.
SELECT capture, transactional_id, date_trunc('day', timestamp) AS day_of_rows,
       count(DISTINCT producer_id) AS producer_ids, max(producer_epoch) AS highest_epoch,
       count(DISTINCT producer_id * 65536 + producer_epoch) AS epochs,
       CAST(count_if(state = 'Empty') AS BIGINT) AS starts
FROM transaction_states_once
WHERE NOT is_tombstone
GROUP BY capture, transactional_id, date_trunc('day', timestamp)
