-- Invalidate contacts that a provider reported as dead, and add the live addresses of the channels in `listed` to
-- the suppression list. Inserts a message contact.invalidated for each webhook endpoint of the mode subscribed to the
-- event; the id of the message is computed from endpoint and contact and time. A contact that is invalid keeps its
-- first reason. A report with a time (`at`) is left out if an entry of the address for one of `called_dead` was undone
-- after it, or if it is a bounce and the contact was changed after it, or registered after `gone_since`. Locks contacts
-- in the order of the ids by the primary key; inserts in the order of one_active_suppression. Uses
-- suppression_by_address as well.
WITH told AS (
    SELECT w.id, w.reason
    FROM unnest(%(ids)s::bigint[], %(reasons)s::text[], %(at)s::timestamptz[], %(gone_since)s::timestamptz[])
         AS w(id, reason, at, gone_since)
    JOIN notifications_contact c USING (id)
    WHERE NOT coalesce(
        (%(cause)s = 'bounce' AND (coalesce(c.changed_at > w.at, false)
                                   OR coalesce(c.changed_at, c.created_at) > w.gone_since))
        OR EXISTS (
            SELECT FROM notifications_suppression s
            WHERE s.channel = c.channel AND s.address = suppressible(c.channel, c.address)
              AND s.reason = ANY(%(called_dead)s::text[]) AND s.undone_at > w.at), false)
), dead AS (
    SELECT c.id, told.reason
    FROM told
    JOIN notifications_contact c USING (id)
    WHERE c.invalidated_at IS NULL
    ORDER BY c.id
    FOR UPDATE OF c
), listed AS (
    INSERT INTO notifications_suppression
        (channel, address, reason, provider, note, created_at, created_by, undone_by, undo_note)
    SELECT DISTINCT ON (1, 2)
           c.channel, suppressible(c.channel, c.address), %(cause)s, %(provider)s, told.reason, now(),
           %(provider)s, '', ''
    FROM told
    JOIN notifications_contact c USING (id)
    JOIN notifications_recipient r ON r.id = c.recipient_id
    WHERE r.mode = %(live)s AND c.channel = ANY(%(listed)s::smallint[])
    ORDER BY 1, 2
    ON CONFLICT (channel, address, reason) WHERE undone_at IS NULL DO NOTHING
), invalidated AS (
    UPDATE notifications_contact c
    SET invalidated_at = now(), invalid_reason = dead.reason, is_primary = false
    FROM dead
    WHERE c.id = dead.id
    RETURNING c.id, c.recipient_id
)
INSERT INTO webhook_message (id, endpoint_id, url, type, contact_id, reason, occurred_at, state, due_at, attempts,
                             calls, created_at)
SELECT md5(e.id || '/contact/' || i.id || '/' || now())::uuid, e.id, '', %(event)s::text, i.id, '', now(), 'waiting', now(),
       0, 0, now()
FROM invalidated i
JOIN notifications_recipient r ON r.id = i.recipient_id
JOIN webhook_endpoint e ON e.mode = r.mode
WHERE e.url <> '' AND e.state <> 'disabled' AND (cardinality(e.events) = 0 OR %(event)s::text = ANY (e.events))
ON CONFLICT (id) DO NOTHING
