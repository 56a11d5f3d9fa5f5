-- Insert a message about a change of a bulk job for each endpoint of the producer and mode subscribed to the event. The
-- transaction of the change makes each message once. Locks nothing but the new rows. Uses the primary key of bulk_job
-- and webhook_endpoint_of_requests or the index of the producer.
INSERT INTO webhook_message (id, endpoint_id, url, type, bulk_job_id, reason, occurred_at, state, due_at, attempts, calls,
                             created_at)
SELECT gen_random_uuid(), e.id, '', %(event)s::text, b.id, %(reason)s::text, clock_timestamp(), 'waiting', now(), 0, 0, now()
FROM bulk_job b
JOIN webhook_endpoint e ON e.producer_id = b.producer_id AND e.mode = b.mode
WHERE b.id = %(job)s::uuid
  AND e.url <> '' AND e.state <> 'disabled' AND (cardinality(e.events) = 0 OR %(event)s::text = ANY (e.events))
