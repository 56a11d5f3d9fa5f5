-- Return the attempts of a partition for the archive, in the order of the ids. Details are in the personal values of the
-- notification. Locks nothing. Reads the primary key.
SELECT delivery_id, number, provider, outcome, code, started_at, latency_ms, segments, http_status, retry_after_s,
       signed_with, country, cost_micros, reserved_at, settled_micros, settled_at, answered_at
FROM {attempt}
ORDER BY delivery_id, number
