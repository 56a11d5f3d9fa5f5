-- Add events to the roll-ups: the next `scanned` events from the transaction `from_xid` to before `below` (a whole
-- number of transactions), or with `recounts` the events of an interval that the position has passed. Returns one
-- row: the number of events read, the first and the last transaction, the number of values that became `other`. A
-- page of one transaction that is longer than `scanned` adds nothing.
-- Locks the roll-up rows that it changes; the caller has locked rollup_position, so no other process changes them.
-- The range of ids from `floor` to before `ceiling` holds the notifications of the page, so that the plan leaves out the
-- other partitions. A page merges event_feed of these partitions; an interval reads all events until its end. Each event looks its
-- notification, its delivery and its last call up by primary keys. MATERIALIZED and OFFSET 0 keep the look-ups from
-- becoming joins with all rows. The bounds of a page are subqueries, because the events of a page are younger than the statistics: by
-- the values Postgres expects one event, and compares each series of a page with each other.
-- Calls of earlier releases have no cost_micros; `prices` applies to them.
-- Deliveries of bulk jobs are counted for the job too: totals, and the present statuses, where an event adds one to its
-- status and takes one from the status of the counted event before. `recounts` leaves these counts as they are.
-- The first `most_values` types, templates and producers of a day have separate figures. Later names are `other`, except
-- the first `own_values` types and templates of each producer, while the day has fewer than `most_with_own`.
-- A call is counted with the first event of the transaction that stored its attempt: each such transaction writes one
-- (attempts.py), and started_at plus latency_ms is the time of the transaction, as is the event's time. A late answer
-- (answered_at) is an event too: it takes the unanswered call back and adds the answer. An event cost_settled has the
-- settlement of its transaction: the difference between the settled and the estimated cost counts at the time of the
-- event. Each figure reads an attempt as it was at the time of the event, so a recount adds the same values.
-- `country` is that of SMS alone (the channel `sms`). Each count is added a second time by hour with `any_country`, the country of each channel,
-- and without route and type: these groups have the priority -1 and no latencies, and only the dimension set `by_country` takes them.
WITH page AS MATERIALIZED (
    (SELECT xid, seq, notification_id, delivery_id, status, reason, at, occurred_at FROM event
     WHERE NOT %(recounts)s::boolean AND xid IS NOT NULL
       AND notification_id >= %(floor)s::uuid AND notification_id < %(ceiling)s::uuid
       AND xid >= (SELECT %(from_xid)s::bigint) AND xid < (SELECT %(below)s::bigint)
     ORDER BY xid, seq LIMIT %(scanned)s::bigint)
    UNION ALL
    (SELECT xid, seq, notification_id, delivery_id, status, reason, at, occurred_at FROM event
     WHERE %(recounts)s::boolean AND at >= %(start)s::timestamptz AND at < %(end)s::timestamptz
       AND notification_id < %(ceiling)s::uuid AND (xid IS NULL OR xid < %(from_xid)s::bigint))
), bounds AS MATERIALIZED (
    SELECT count(*) AS events, min(xid) AS first_xid, max(xid) AS last_xid,
           NOT %(recounts)s::boolean AND count(*) >= %(scanned)s::bigint AS is_full
    FROM page
), counted AS MATERIALIZED (
    SELECT page.*,
           page.seq = min(page.seq) OVER same_time AS is_first,
           page.seq = min(page.seq) FILTER (WHERE page.status = ANY(%(reached)s::smallint[])) OVER same_time
               AS is_first_reached,
           page.seq = min(page.seq) FILTER (WHERE page.status IN (%(delivered)s, %(read)s)) OVER same_time
               AS is_first_arrived
    FROM page, bounds
    WHERE (NOT bounds.is_full OR page.xid < bounds.last_xid)
      AND page.delivery_id IS NOT NULL
      AND (page.status IS NOT NULL OR page.reason = ANY(%(counted_reasons)s::text[]))
    WINDOW same_time AS (PARTITION BY page.delivery_id, page.at)
), fact AS MATERIALIZED (
    SELECT e.notification_id, e.delivery_id, e.seq, n.bulk_job_id, n.variant,
           date_trunc('minute', e.at, 'UTC') AS minute,
           n.mode, n.producer_id, d.channel, coalesce(a.provider, '') AS provider, n.priority, n.type,
           coalesce(n.template, 0) AS template,
           CASE WHEN d.channel = %(sms)s THEN coalesce(a.country, '') ELSE '' END AS country,
           coalesce(a.country, '') AS any_country, e.status, e.reason, coalesce(a.outcome, '') AS outcome,
           CASE WHEN e.status = %(queued)s AND e.reason = 'released' THEN NOT EXISTS (
                    SELECT FROM event b WHERE b.notification_id = e.notification_id AND b.delivery_id = e.delivery_id
                                          AND b.notification_id >= %(floor)s::uuid
                                          AND b.notification_id < %(ceiling)s::uuid AND b.seq < e.seq)
                ELSE e.status IS NOT NULL AND (e.at = n.created_at OR e.reason IN ('accepted', 'fallback'))
           END AS is_accepted,
           coalesce(e.is_first_reached AND e.at = d.sent_at, false) AS is_sent,
           coalesce(e.is_first_arrived AND e.at = d.delivered_at, false) AS is_delivered,
           coalesce(e.is_first AND a.ended_at = e.at, false) AS is_call,
           coalesce(e.is_first AND a.answered_at = e.at, false) AS is_late_answer,
           coalesce(a.number > 1, false) AS is_repeated,
           CASE WHEN e.is_first_reached AND e.at = d.sent_at THEN a.number > 1 AND a.outcome IN ('accepted', 'unanswered')
                ELSE e.is_first AND a.ended_at = e.at AND a.number > 1 AND a.outcome = 'accepted' AND d.sent_at < e.at
                     AND NOT EXISTS (
                         SELECT FROM attempt b
                         WHERE b.delivery_id = e.delivery_id AND b.delivery_id >= %(floor)s::uuid
                           AND b.delivery_id < %(ceiling)s::uuid AND b.number < a.number
                           AND (b.outcome IN ('accepted', 'unanswered') OR b.answered_at > e.at))
           END IS TRUE AS is_sent_after_retry,
           e.status = ANY(%(given_up)s::smallint[]) AND coalesce(d.sent_at > e.at, true) AS is_given_up,
           a.number = 1 AS is_first_call,
           a.latency_ms AS answer_ms,
           extract(epoch FROM a.started_at - coalesce(n.scheduled_at, n.created_at)) * 1000 AS call_ms,
           extract(epoch FROM coalesce(e.occurred_at, e.at) - coalesce(n.scheduled_at, n.created_at)) * 1000
               AS delivered_ms,
           e.reason = 'cost_settled' AS is_settled,
           CASE WHEN e.reason = 'cost_settled'
                THEN a.settled_micros - CASE WHEN a.outcome = 'accepted' THEN a.cost_micros ELSE 0 END
                WHEN a.answered_at = e.at AND a.settled_at < e.at THEN NULL
                WHEN a.outcome = 'accepted' THEN coalesce(a.cost_micros, coalesce(a.segments, 1)
                * (%(prices)s::bigint[])[array_position(%(channels)s::smallint[], d.channel)]) END AS cost_micros
    FROM counted e
    CROSS JOIN LATERAL (
        SELECT mode, producer_id, priority, type, template, created_at, scheduled_at, bulk_job_id, variant
        FROM notification
        WHERE id = e.notification_id AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid OFFSET 0
    ) n
    CROSS JOIN LATERAL (
        SELECT channel, sent_at, delivered_at FROM delivery
        WHERE id = e.delivery_id AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid OFFSET 0
    ) d
    LEFT JOIN LATERAL (
        SELECT provider, country, CASE WHEN answered_at > e.at THEN 'unanswered' ELSE outcome END AS outcome, number,
               latency_ms, segments, cost_micros, settled_micros, settled_at, started_at,
               answered_at, started_at + latency_ms * interval '1 millisecond' AS ended_at
        FROM attempt
        WHERE delivery_id = e.delivery_id AND delivery_id >= %(floor)s::uuid AND delivery_id < %(ceiling)s::uuid
          AND e.reason NOT IN ('accepted', 'fallback')
          AND CASE WHEN e.reason = 'cost_settled' THEN settled_at = e.at
                   ELSE started_at + latency_ms * interval '1 millisecond' <= e.at END
        ORDER BY coalesce(answered_at = e.at, false) DESC, ended_at DESC, number DESC
        LIMIT 1
    ) a ON true
), measured AS MATERIALIZED (
    SELECT f.minute, f.mode, f.producer_id, f.channel, f.provider, f.priority, f.type, f.template, f.country, m.kind,
           (count(*) || repeat('0', %(digits)s::int * b.bin))::numeric AS sketch
    FROM fact f
    CROSS JOIN LATERAL (VALUES
        (%(accept_to_call)s::smallint, f.call_ms, f.is_call AND f.is_first_call),
        (%(call_to_answer)s::smallint, f.answer_ms::numeric, f.is_call),
        (%(accept_to_delivered)s::smallint, f.delivered_ms, f.is_delivered)
    ) AS m(kind, ms, is_measured)
    CROSS JOIN LATERAL (
        SELECT ceil(ln(greatest(m.ms, 1)::double precision) / ln(%(gamma)s::double precision))::int AS bin
    ) b
    WHERE m.is_measured
    GROUP BY f.minute, f.mode, f.producer_id, f.channel, f.provider, f.priority, f.type, f.template, f.country, m.kind,
             b.bin
), job_fact AS MATERIALIZED (
    SELECT f.bulk_job_id, f.variant, f.status, f.reason, f.is_accepted, f.is_sent, f.is_delivered,
           CASE WHEN f.is_call OR f.is_late_answer OR f.is_settled THEN f.cost_micros END AS cost_micros, b.status AS status_before
    FROM fact f
    LEFT JOIN LATERAL (
        SELECT p.status FROM event p
        WHERE p.notification_id = f.notification_id AND p.notification_id >= %(floor)s::uuid
          AND p.notification_id < %(ceiling)s::uuid AND p.delivery_id = f.delivery_id AND p.seq < f.seq
          AND p.status IS NOT NULL
        ORDER BY p.seq DESC
        LIMIT 1
    ) b ON f.status IS NOT NULL
    WHERE f.bulk_job_id IS NOT NULL AND NOT %(recounts)s::boolean
), job_figures AS (
    INSERT INTO bulk_job_figure AS r (job_id, variant, kind, name, count)
    SELECT f.bulk_job_id, f.variant, v.kind, v.name, sum(v.count)
    FROM job_fact f
    CROSS JOIN LATERAL (VALUES
        ('total', 'accepted', f.is_accepted::int::bigint),
        ('total', 'sent', f.is_sent::int),
        ('total', 'delivered', f.is_delivered::int),
        ('total', 'read', (f.status = %(read)s)::int),
        ('total', 'clicked', (f.reason = 'client_clicked')::int),
        ('total', 'failed', (f.status = %(failed)s)::int),
        ('total', 'bounced', (f.status = %(bounced)s)::int),
        ('total', 'complained', (f.reason = 'complained')::int),
        ('total', 'cost_micros', f.cost_micros),
        ('status', (%(status_labels)s::text[])[f.status], 1),
        ('status', (%(status_labels)s::text[])[f.status_before], -1)
    ) AS v(kind, name, count)
    WHERE v.count <> 0 AND v.name IS NOT NULL
    GROUP BY f.bulk_job_id, f.variant, v.kind, v.name
    HAVING sum(v.count) <> 0
    ON CONFLICT (job_id, variant, kind, name) DO UPDATE SET count = r.count + excluded.count
), counts AS MATERIALIZED (
    SELECT f.minute, f.mode, f.producer_id, f.channel, f.provider, f.priority, f.type, f.template, f.country, f.any_country,
           r.reason,
           count(*) FILTER (WHERE r.part = 1 AND f.is_accepted) AS accepted,
           count(*) FILTER (WHERE r.part = 1 AND f.is_sent) AS sent,
           count(*) FILTER (WHERE r.part = 1 AND f.is_delivered) AS delivered,
           count(*) FILTER (WHERE r.part = 1 AND f.status = %(read)s) AS read,
           count(*) FILTER (WHERE r.part = 1 AND f.reason = 'client_clicked') AS clicked,
           count(*) FILTER (WHERE r.part = 2 AND f.status = %(failed)s) AS failed,
           count(*) FILTER (WHERE r.part = 2 AND f.status = %(bounced)s) AS bounced,
           count(*) FILTER (WHERE r.part = 2 AND f.status = %(expired)s) AS expired,
           count(*) FILTER (WHERE r.part = 2 AND f.status = %(suppressed)s) AS suppressed,
           count(*) FILTER (WHERE r.part = 2 AND f.status = %(cancelled)s) AS cancelled,
           count(*) FILTER (WHERE r.part = 2 AND f.status = %(unknown)s) AS unknown,
           count(*) FILTER (WHERE r.part = 2 AND f.status = %(unconfirmed)s) AS unconfirmed,
           count(*) FILTER (WHERE r.part = 2 AND f.status = %(retrying)s) AS retried,
           count(*) FILTER (WHERE r.part = 1 AND f.reason = 'replayed') AS replayed,
           count(*) FILTER (WHERE r.part = 1 AND f.is_call) AS calls,
           count(*) FILTER (WHERE r.part = 3) - count(*) FILTER (WHERE r.part = 4) AS failed_calls,
           count(*) FILTER (WHERE r.part = 1 AND f.is_sent_after_retry) AS sent_after_retry,
           count(*) FILTER (WHERE r.part = 1 AND f.is_given_up AND f.is_repeated) AS failed_after_retry,
           sum(f.cost_micros) FILTER (WHERE r.part = 1 AND (f.is_call OR f.is_late_answer OR f.is_settled)) AS cost_micros
    FROM fact f
    CROSS JOIN LATERAL (VALUES (1, ''), (2, f.reason), (3, f.outcome), (4, 'unanswered')) AS r(part, reason)
    WHERE (r.part = 1 AND (f.is_accepted OR f.is_sent OR f.is_delivered OR f.is_call OR f.is_late_answer OR f.is_settled
                           OR f.is_sent_after_retry OR f.status = %(read)s
                           OR f.reason IN ('client_clicked', 'replayed') OR (f.is_given_up AND f.is_repeated)))
       OR (r.part = 2 AND f.status = ANY(%(explained)s::smallint[]))
       OR (r.part = 3 AND (f.is_call OR f.is_late_answer) AND f.outcome <> 'accepted')
       OR (r.part = 4 AND f.is_late_answer)
    GROUP BY f.minute, f.mode, f.producer_id, f.channel, f.provider, f.priority, f.type, f.template, f.country, f.any_country,
             r.reason
), base AS MATERIALIZED (
    SELECT g.minute, c.mode, c.producer_id, c.channel, g.provider, g.priority, g.type, g.template, g.country, c.reason,
           sum(c.accepted) AS accepted, sum(c.sent) AS sent, sum(c.delivered) AS delivered, sum(c.read) AS read,
           sum(c.clicked) AS clicked, sum(c.failed) AS failed, sum(c.bounced) AS bounced, sum(c.expired) AS expired,
           sum(c.suppressed) AS suppressed, sum(c.cancelled) AS cancelled, sum(c.unknown) AS unknown,
           sum(c.unconfirmed) AS unconfirmed, sum(c.retried) AS retried, sum(c.replayed) AS replayed, sum(c.calls) AS calls,
           sum(c.failed_calls) AS failed_calls, sum(c.sent_after_retry) AS sent_after_retry,
           sum(c.failed_after_retry) AS failed_after_retry, sum(c.cost_micros) AS cost_micros
    FROM counts c
    CROSS JOIN LATERAL (VALUES
        (c.minute, c.provider, c.priority, c.type, c.template, c.country),
        (date_trunc('hour', c.minute, 'UTC'), '', -1::smallint, '', 0, c.any_country)
    ) AS g(minute, provider, priority, type, template, country)
    GROUP BY g.minute, c.mode, c.producer_id, c.channel, g.provider, g.priority, g.type, g.template, g.country, c.reason
), combination AS MATERIALIZED (
    SELECT DISTINCT (b.minute AT TIME ZONE 'UTC')::date AS day,
           CASE WHEN b.mode = %(test)s THEN 'test ' ELSE '' END AS of_mode, b.mode, b.producer_id, b.channel, b.provider, b.priority,
           b.type, b.template, b.country, b.reason, coalesce(t.template_id, '') AS template_name,
           coalesce(t.version, 0) AS version
    FROM base b
    LEFT JOIN notifications_template t ON t.id = b.template
), value AS MATERIALIZED (
    SELECT DISTINCT c.day, c.of_mode || v.dimension AS dimension, v.value, v.producer_id
    FROM combination c
    CROSS JOIN LATERAL (VALUES ('type', c.type, c.producer_id), ('template', c.template_name, c.producer_id),
                               ('producer', c.producer_id::text, 0)) AS v(dimension, value, producer_id)
    WHERE c.priority >= 0
), unnamed AS MATERIALIZED (
    SELECT v.* FROM value v
    WHERE NOT EXISTS (
        SELECT FROM rollup_value k WHERE k.day = v.day AND k.dimension = v.dimension AND k.value = v.value)
), held AS MATERIALIZED (
    SELECT u.day, u.dimension, k.producer_id, k.count
    FROM (SELECT DISTINCT day, dimension FROM unnamed) u
    CROSS JOIN LATERAL (
        SELECT producer_id, count(*) FROM rollup_value WHERE day = u.day AND dimension = u.dimension GROUP BY producer_id
    ) k
), candidate AS (
    SELECT u.day, u.dimension, u.value, u.producer_id, coalesce(h.count, 0)
           + row_number() OVER (PARTITION BY u.day, u.dimension, u.producer_id ORDER BY u.value) AS own_place
    FROM unnamed u
    LEFT JOIN held h USING (day, dimension, producer_id)
), placed AS (
    SELECT c.*, row_number() OVER (PARTITION BY c.day, c.dimension ORDER BY c.own_place, c.value)
           + coalesce((SELECT sum(h.count) FROM held h WHERE h.day = c.day AND h.dimension = c.dimension), 0) AS place
    FROM (SELECT DISTINCT ON (day, dimension, value) * FROM candidate
          ORDER BY day, dimension, value, own_place, producer_id) c
), fresh AS MATERIALIZED (
    SELECT day, dimension, value, producer_id,
           place <= %(most_values)s::bigint
           OR (producer_id > 0 AND own_place <= %(own_values)s::bigint AND place <= %(most_with_own)s::bigint) AS is_named
    FROM placed
), admitted AS (
    INSERT INTO rollup_value (day, dimension, value, producer_id)
    SELECT day, dimension, value, producer_id FROM fresh WHERE is_named
    RETURNING day, dimension, value
), known AS MATERIALIZED (
    SELECT k.day, k.dimension, k.value
    FROM rollup_value k
    JOIN (SELECT DISTINCT day, dimension, value FROM value) v USING (day, dimension, value)
    UNION ALL
    SELECT day, dimension, value FROM admitted
), target AS MATERIALIZED (
    SELECT c.day, c.mode, c.producer_id, c.channel, c.provider, c.priority, c.type, c.template, c.country, c.reason,
           d.dimension_set,
           CASE WHEN d.has_producer THEN coalesce(p.value::bigint, 0) ELSE 0 END AS of_producer,
           CASE WHEN d.has_route THEN c.provider ELSE '' END AS of_provider,
           CASE WHEN d.has_route THEN c.priority ELSE -1 END::smallint AS of_priority,
           CASE WHEN d.has_type THEN coalesce(y.value, %(other)s) ELSE '' END AS of_type,
           CASE WHEN d.has_type THEN coalesce(t.value, %(other)s) ELSE '' END AS of_template,
           CASE WHEN d.has_type AND t.value IS NOT NULL THEN c.version ELSE 0 END AS of_version,
           CASE WHEN d.has_country THEN c.country ELSE '' END AS of_country
    FROM combination c
    LEFT JOIN known p ON p.dimension = c.of_mode || 'producer' AND p.day = c.day AND p.value = c.producer_id::text
    LEFT JOIN known y ON y.dimension = c.of_mode || 'type' AND y.day = c.day AND y.value = c.type
    LEFT JOIN known t ON t.dimension = c.of_mode || 'template' AND t.day = c.day AND t.value = c.template_name
    JOIN unnest(%(dimension_sets)s::smallint[], %(has_producer)s::boolean[], %(has_route)s::boolean[],
                %(has_type)s::boolean[], %(has_country)s::boolean[], %(by_country)s::boolean[])
        AS d(dimension_set, has_producer, has_route, has_type, has_country, by_country)
      ON d.by_country = (c.priority < 0)
), existing AS MATERIALIZED (
    SELECT s.id, s.dimension_set, s.mode, s.producer_id, s.channel, s.provider, s.priority, s.type, s.template,
           s.version, s.country, s.reason
    FROM (SELECT DISTINCT dimension_set, mode, of_producer, channel, of_provider, of_priority, of_type, of_template,
                          of_version, of_country, reason FROM target) w
    JOIN rollup_series s ON s.dimension_set = w.dimension_set AND s.mode = w.mode AND s.producer_id = w.of_producer
        AND s.channel = w.channel AND s.provider = w.of_provider AND s.priority = w.of_priority AND s.type = w.of_type
        AND s.template = w.of_template AND s.version = w.of_version AND s.country = w.of_country
        AND s.reason = w.reason
), created AS (
    INSERT INTO rollup_series (dimension_set, mode, producer_id, channel, provider, priority, type, template, version,
                               country, reason)
    SELECT dimension_set, mode, of_producer, channel, of_provider, of_priority, of_type, of_template, of_version,
           of_country, reason FROM target
    EXCEPT
    SELECT dimension_set, mode, producer_id, channel, provider, priority, type, template, version, country, reason
    FROM existing
    RETURNING id, dimension_set, mode, producer_id, channel, provider, priority, type, template, version, country, reason
), series AS MATERIALIZED (
    SELECT t.day, t.mode, t.producer_id, t.channel, t.provider, t.priority, t.type, t.template, t.country, t.reason,
           s.id, c.cube, c.unit
    FROM target t
    JOIN (SELECT * FROM existing UNION ALL SELECT * FROM created) s
      ON s.dimension_set = t.dimension_set AND s.mode = t.mode AND s.producer_id = t.of_producer
     AND s.channel = t.channel AND s.provider = t.of_provider AND s.priority = t.of_priority AND s.type = t.of_type
     AND s.template = t.of_template AND s.version = t.of_version AND s.country = t.of_country AND s.reason = t.reason
    JOIN unnest(%(cubes)s::smallint[], %(units)s::text[], %(cube_sets)s::smallint[]) AS c(cube, unit, dimension_set)
      ON c.dimension_set = t.dimension_set
), counters AS (
    INSERT INTO rollup AS r (cube, series, bucket, accepted, sent, delivered, read, clicked, failed, bounced, expired, suppressed,
                                cancelled, unknown, unconfirmed, retried, replayed, calls, failed_calls,
                                sent_after_retry, failed_after_retry, cost_micros)
    SELECT s.cube, s.id, date_trunc(s.unit, b.minute, 'UTC') AS start,
           nullif(sum(b.accepted), 0), nullif(sum(b.sent), 0), nullif(sum(b.delivered), 0), nullif(sum(b.read), 0),
           nullif(sum(b.clicked), 0), nullif(sum(b.failed), 0), nullif(sum(b.bounced), 0), nullif(sum(b.expired), 0),
           nullif(sum(b.suppressed), 0), nullif(sum(b.cancelled), 0), nullif(sum(b.unknown), 0),
           nullif(sum(b.unconfirmed), 0), nullif(sum(b.retried), 0), nullif(sum(b.replayed), 0),
           nullif(sum(b.calls), 0), nullif(sum(b.failed_calls), 0), nullif(sum(b.sent_after_retry), 0),
           nullif(sum(b.failed_after_retry), 0), nullif(sum(b.cost_micros), 0)
    FROM base b
    JOIN series s ON s.day = (b.minute AT TIME ZONE 'UTC')::date AND s.mode = b.mode AND s.producer_id = b.producer_id
        AND s.channel = b.channel AND s.provider = b.provider AND s.priority = b.priority AND s.type = b.type
        AND s.template = b.template AND s.country = b.country AND s.reason = b.reason
    GROUP BY s.cube, s.id, start
    ON CONFLICT (cube, series, bucket) DO UPDATE SET
        accepted = coalesce(r.accepted + excluded.accepted, r.accepted, excluded.accepted),
        sent = coalesce(r.sent + excluded.sent, r.sent, excluded.sent),
        delivered = coalesce(r.delivered + excluded.delivered, r.delivered, excluded.delivered),
        read = coalesce(r.read + excluded.read, r.read, excluded.read),
        clicked = coalesce(r.clicked + excluded.clicked, r.clicked, excluded.clicked),
        failed = coalesce(r.failed + excluded.failed, r.failed, excluded.failed),
        bounced = coalesce(r.bounced + excluded.bounced, r.bounced, excluded.bounced),
        expired = coalesce(r.expired + excluded.expired, r.expired, excluded.expired),
        suppressed = coalesce(r.suppressed + excluded.suppressed, r.suppressed, excluded.suppressed),
        cancelled = coalesce(r.cancelled + excluded.cancelled, r.cancelled, excluded.cancelled),
        unknown = coalesce(r.unknown + excluded.unknown, r.unknown, excluded.unknown),
        unconfirmed = coalesce(r.unconfirmed + excluded.unconfirmed, r.unconfirmed, excluded.unconfirmed),
        retried = coalesce(r.retried + excluded.retried, r.retried, excluded.retried),
        replayed = coalesce(r.replayed + excluded.replayed, r.replayed, excluded.replayed),
        calls = coalesce(r.calls + excluded.calls, r.calls, excluded.calls),
        failed_calls = nullif(coalesce(r.failed_calls + excluded.failed_calls, r.failed_calls, excluded.failed_calls), 0),
        sent_after_retry = coalesce(r.sent_after_retry + excluded.sent_after_retry, r.sent_after_retry, excluded.sent_after_retry),
        failed_after_retry = coalesce(r.failed_after_retry + excluded.failed_after_retry, r.failed_after_retry, excluded.failed_after_retry),
        cost_micros = nullif(coalesce(r.cost_micros + excluded.cost_micros, r.cost_micros, excluded.cost_micros), 0)
), sketches AS (
    INSERT INTO rollup_latency AS r (cube, series, kind, bucket, sketch)
    SELECT s.cube, s.id, m.kind, date_trunc(s.unit, m.minute, 'UTC') AS start, sum(m.sketch)
    FROM measured m
    JOIN series s ON s.day = (m.minute AT TIME ZONE 'UTC')::date AND s.mode = m.mode AND s.producer_id = m.producer_id
        AND s.channel = m.channel AND s.provider = m.provider AND s.priority = m.priority AND s.type = m.type
        AND s.template = m.template AND s.country = m.country AND s.reason = ''
    GROUP BY s.cube, s.id, m.kind, start
    ON CONFLICT (cube, series, kind, bucket) DO UPDATE SET sketch = r.sketch + excluded.sketch
)
SELECT events, first_xid, last_xid, is_full,
       (SELECT count(*) FROM fresh WHERE NOT is_named) AS unnamed_values
FROM bounds
