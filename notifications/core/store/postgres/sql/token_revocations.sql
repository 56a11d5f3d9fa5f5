-- The revocations of recipients. Locks nothing; the primary key of token_revocation serves it.
SELECT recipient_id, revoked_before FROM token_revocation WHERE recipient_id = ANY (%(ids)s::bigint[])
