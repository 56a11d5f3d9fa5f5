-- One row a provider call. A second settle of the same call changes nothing.
INSERT INTO attempt (delivery_id, number, provider, outcome, code, detail, started_at, latency_ms,
                     segments, http_status, retry_after_s, signed_with)
SELECT w.id, w.number, %(provider)s, w.outcome, w.code, w.detail,
       now() - w.latency_ms * interval '1 millisecond', w.latency_ms, w.segments, w.http_status,
       w.retry_after_s, w.signed_with
FROM unnest(%(ids)s::uuid[], %(numbers)s::smallint[], %(outcomes)s::text[], %(codes)s::text[],
            %(details)s::text[], %(latencies)s::int[], %(segments)s::smallint[],
            %(statuses)s::smallint[], %(waits)s::int[], %(keys)s::text[])
    AS w(id, number, outcome, code, detail, latency_ms, segments, http_status, retry_after_s,
         signed_with)
ON CONFLICT DO NOTHING
