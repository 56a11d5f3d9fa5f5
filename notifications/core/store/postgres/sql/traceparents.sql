-- Return the trace context of notifications. Locks nothing. Uses the primary key.
SELECT id, traceparent FROM notification WHERE id = ANY(%(ids)s)
