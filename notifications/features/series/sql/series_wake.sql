-- Make enrolments due that this transaction has locked. Uses the primary key.
UPDATE series_enrolment SET due_at = least(due_at, now()) WHERE id = ANY(%(ids)s::bigint[]) AND due_at IS NOT NULL
