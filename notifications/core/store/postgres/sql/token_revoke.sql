-- Revoke the tokens of recipients issued up to now. Locks the written rows of token_revocation; the primary key serves it.
INSERT INTO token_revocation (recipient_id, revoked_before, noted_at)
SELECT id, statement_timestamp(), clock_timestamp() FROM unnest(%(ids)s::bigint[]) AS id ORDER BY id
ON CONFLICT (recipient_id) DO UPDATE
SET revoked_before = GREATEST(token_revocation.revoked_before, EXCLUDED.revoked_before), noted_at = EXCLUDED.noted_at
