-- Lock the name of a template until the end of the transaction, with or without a row of that name, so that one
-- transaction at a time writes versions. An advisory lock; waits up to lock_timeout.
SELECT pg_advisory_xact_lock(hashtext('template'), hashtext(%(template_id)s))
