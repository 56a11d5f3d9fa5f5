-- One row a provider call. A second settle of the same call changes nothing.
INSERT INTO attempt (delivery_id, number, provider, outcome, code, detail, started_at, latency_ms,
                     segments)
SELECT w.id, w.number, %(provider)s, w.outcome, w.code, w.detail,
       now() - w.latency_ms * interval '1 millisecond', w.latency_ms, w.segments
FROM unnest(%(ids)s::uuid[], %(numbers)s::smallint[], %(outcomes)s::text[], %(codes)s::text[],
            %(details)s::text[], %(latencies)s::int[], %(segments)s::smallint[])
    AS w(id, number, outcome, code, detail, latency_ms, segments)
ON CONFLICT DO NOTHING
