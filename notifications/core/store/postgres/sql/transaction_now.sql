-- Return now() of the open transaction: the instant to which the writes of due_at add an interval.
SELECT now() AS now
