-- Mark custom events as handled. Uses the primary key.
UPDATE custom_event SET handled = true WHERE id = ANY(%(ids)s::bigint[])
