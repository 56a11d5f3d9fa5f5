-- One writer a template name, also of a name that has no row yet; let go with the transaction.
SELECT pg_advisory_xact_lock(hashtext('template'), hashtext(%(template_id)s))
