-- The recipients with a revocation noted in the last seconds. Locks nothing; token_revocation_noted serves it.
SELECT recipient_id FROM token_revocation WHERE noted_at > clock_timestamp() - make_interval(secs => %(seconds)s)
