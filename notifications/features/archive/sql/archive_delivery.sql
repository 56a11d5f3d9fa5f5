-- Return the deliveries of a partition for the archive, in the order of the ids. The columns of claims and publications
-- are left out, because no delivery of the partition is open. Locks nothing. Reads the primary key.
SELECT id, mode, priority, channel, status, reason, recipient_id, contact_id, provider, provider_message_id, attempts,
       attempts_before, resent, generation, falls_back, call_started_at, sent_at, delivered_at, switch_id, budget_id
FROM {delivery}
ORDER BY id
