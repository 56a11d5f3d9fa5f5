-- Delete up to `limit` revocations of tokens that have all expired. Locks the deleted rows; token_revocation_noted serves it.
DELETE FROM token_revocation
WHERE recipient_id IN (
    SELECT recipient_id FROM token_revocation WHERE noted_at < %(before)s ORDER BY noted_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
