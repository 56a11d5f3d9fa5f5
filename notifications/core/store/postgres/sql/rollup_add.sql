-- Add events to the roll-ups: the transactions from `from_xid` to before `below`, or with `recounts` the events of an
-- interval that the position `from_xid` has passed. Returns the number of events, and of values that became `other`.
-- Locks the roll-up rows that it changes; the caller has locked rollup_position, so no other process changes them, and
-- has run rollup_settings. The ids from `floor` to before `ceiling` hold the notifications of the events, so that the
-- plan leaves out the other partitions. A page uses event_of_transaction of these partitions, an interval reads all
-- events until its end. Notifications, deliveries and attempts are looked up once each by arrays of their primary keys.
--
-- The steps: `page` to `fact` find what is known of each event. `tally` counts equal facts. `counts` has a row for each
-- minute, combination of values and reason. `value` to `name` choose the values with figures of their own. `target` to
-- `figure` add the counts up to the series and buckets of all cubes.
WITH page AS MATERIALIZED (
    -- The bounds are subqueries, because the events are younger than the statistics: by the values Postgres expects none.
    (SELECT notification_id, delivery_id, seq, status, reason, at, occurred_at FROM event
     WHERE NOT %(recounts)s::boolean AND xid IS NOT NULL
       AND notification_id >= %(floor)s::uuid AND notification_id < %(ceiling)s::uuid
       AND xid >= (SELECT %(from_xid)s::bigint) AND xid < (SELECT %(below)s::bigint))
    UNION ALL
    (SELECT notification_id, delivery_id, seq, status, reason, at, occurred_at FROM event
     WHERE %(recounts)s::boolean AND at >= %(start)s::timestamptz AND at < %(end)s::timestamptz
       AND notification_id < %(ceiling)s::uuid AND (xid IS NULL OR xid < %(from_xid)s::bigint))
), page_notification AS MATERIALIZED (
    SELECT id, mode, producer_id, priority, type, coalesce(template, 0) AS template, created_at,
           coalesce(scheduled_at, created_at) AS wanted_at, bulk_job_id, variant
    FROM notification
    WHERE id = ANY(ARRAY(SELECT DISTINCT notification_id FROM page))
      AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
), counted_event AS MATERIALIZED (
    -- A claim, which is an event of the release before, counts in the present statuses of a bulk job alone.
    SELECT e.*, n.mode, n.producer_id, n.priority, n.type, n.template, n.created_at, n.wanted_at, n.bulk_job_id, n.variant
    FROM page e
    JOIN page_notification n ON n.id = e.notification_id
    WHERE e.delivery_id IS NOT NULL AND (e.status IS NOT NULL OR e.reason = ANY(%(counted_reasons)s::text[]))
      AND (e.status IS DISTINCT FROM %(sending)s OR n.bulk_job_id IS NOT NULL)
), counted_delivery AS MATERIALIZED (
    SELECT DISTINCT delivery_id FROM counted_event
), page_delivery AS MATERIALIZED (
    SELECT id, channel, sent_at, delivered_at FROM delivery
    WHERE id = ANY(ARRAY(SELECT delivery_id FROM counted_delivery)) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
), page_attempt AS MATERIALIZED (
    SELECT a.delivery_id, a.number, a.provider, a.country, a.outcome, a.latency_ms, a.segments, a.cost_micros,
           a.settled_micros, a.settled_at, a.started_at, a.answered_at, a.ended_at, o.seq
    FROM (SELECT *, started_at + latency_ms * interval '1 millisecond' AS ended_at FROM attempt
          WHERE delivery_id = ANY(ARRAY(SELECT delivery_id FROM counted_delivery))
            AND delivery_id >= %(floor)s::uuid AND delivery_id < %(ceiling)s::uuid) a
    LEFT JOIN (SELECT delivery_id, at, min(seq) AS seq FROM counted_event GROUP BY delivery_id, at) o
           ON o.delivery_id = a.delivery_id AND o.at = a.ended_at
), with_call AS (
    -- The last call before each event; of a settled cost or a late answer, the call that has it. A receipt can come while
    -- the transaction with the answer waits for the delivery's row, for any time: then the time of the answer is earlier and
    -- its event (`seq`) is later, and the call comes after the receipt.
    SELECT DISTINCT ON (e.delivery_id, e.at, e.seq) e.*, a.number
    FROM counted_event e
    LEFT JOIN page_attempt a ON a.delivery_id = e.delivery_id AND e.reason NOT IN ('accepted', 'fallback')
        AND CASE WHEN e.reason = 'cost_settled' THEN a.settled_at = e.at
                 WHEN a.ended_at > e.at THEN false
                 WHEN a.seq IS NOT NULL THEN a.seq <= e.seq
                 ELSE NOT EXISTS (
                     SELECT FROM event o
                     WHERE o.notification_id = e.notification_id AND o.notification_id >= %(floor)s::uuid
                       AND o.notification_id < %(ceiling)s::uuid AND o.delivery_id = e.delivery_id
                       AND o.at = a.ended_at AND o.seq > e.seq) END
    ORDER BY e.delivery_id, e.at, e.seq, coalesce(a.answered_at = e.at, false) DESC, a.ended_at DESC, a.number DESC
), numbered AS MATERIALIZED (
    SELECT *, row_number() OVER same_time = 1 AS is_first,
           status = ANY(%(reached)s::smallint[])
           AND count(*) FILTER (WHERE status = ANY(%(reached)s::smallint[])) OVER same_time = 1 AS is_first_reached,
           status IN (%(delivered)s, %(read)s)
           AND count(*) FILTER (WHERE status IN (%(delivered)s, %(read)s)) OVER same_time = 1 AS is_first_arrived
    FROM with_call
    WINDOW same_time AS (PARTITION BY delivery_id, at ORDER BY seq ROWS UNBOUNDED PRECEDING)
), history AS MATERIALIZED (
    -- The status before each event of a bulk job, with the events of earlier pages.
    SELECT s.delivery_id, h.seq, h.status_before
    FROM (SELECT DISTINCT notification_id, delivery_id FROM counted_event
          WHERE bulk_job_id IS NOT NULL AND NOT %(recounts)s::boolean) s
    CROSS JOIN LATERAL (
        SELECT seq, lag(status) OVER (ORDER BY seq) AS status_before FROM event
        WHERE notification_id = s.notification_id AND delivery_id = s.delivery_id AND status IS NOT NULL
          AND notification_id >= %(floor)s::uuid AND notification_id < %(ceiling)s::uuid
    ) h
), fact AS (
    -- A call is counted with the first event of the transaction that stored its attempt: each such transaction writes
    -- one (attempts.py), and started_at plus latency_ms is the time of the transaction, as is the event's time. A late
    -- answer (answered_at) is an event too: it takes the unanswered call back and adds the answer. Each figure reads an
    -- attempt as it was at the time of the event, so a recount adds the same values.
    SELECT e.*, d.channel, d.sent_at, d.delivered_at, coalesce(a.provider, '') AS provider,
           coalesce(a.country, '') AS any_country,
           CASE WHEN a.answered_at > e.at THEN 'unanswered' ELSE coalesce(a.outcome, '') END AS outcome,
           a.latency_ms, a.segments, a.cost_micros, a.settled_micros, a.settled_at, a.started_at, h.status_before,
           coalesce(e.is_first AND a.ended_at = e.at, false) AS is_call,
           coalesce(e.is_first AND a.answered_at = e.at, false) AS is_late_answer,
           e.reason = 'cost_settled' AS is_settled,
           coalesce(e.is_first_reached AND e.at = d.sent_at, false) AS is_sent,
           coalesce(e.is_first_arrived AND e.at = d.delivered_at, false) AS is_delivered
    FROM numbered e
    JOIN page_delivery d ON d.id = e.delivery_id
    LEFT JOIN page_attempt a ON a.delivery_id = e.delivery_id AND a.number = e.number
    LEFT JOIN history h ON h.delivery_id = e.delivery_id AND h.seq = e.seq
), tally AS MATERIALIZED (
    -- An event cost_settled counts the difference between the settled and the estimated cost. Calls of earlier releases
    -- have no cost_micros; `prices` applies to them.
    SELECT date_bin('1 minute', f.at, 'epoch') AS minute, f.mode, f.producer_id, f.channel, f.provider, f.priority,
           f.type, f.template, f.any_country, f.bulk_job_id, f.variant, f.status, f.status_before, f.reason, f.outcome,
           f.is_sent, f.is_delivered, f.is_call, f.is_late_answer, f.is_settled,
           CASE WHEN f.status = %(queued)s AND f.reason = 'released' THEN NOT EXISTS (
                    SELECT FROM event b WHERE b.notification_id = f.notification_id AND b.delivery_id = f.delivery_id
                                          AND b.notification_id >= %(floor)s::uuid
                                          AND b.notification_id < %(ceiling)s::uuid AND b.seq < f.seq)
                ELSE f.status IS NOT NULL AND (f.at = f.created_at OR f.reason IN ('accepted', 'fallback'))
           END AS is_accepted,
           CASE WHEN f.is_sent THEN f.number > 1 AND f.outcome IN ('accepted', 'unanswered')
                ELSE f.is_call AND f.number > 1 AND f.outcome = 'accepted' AND f.sent_at < f.at
                     AND NOT EXISTS (
                         SELECT FROM attempt b
                         WHERE b.delivery_id = f.delivery_id AND b.delivery_id >= %(floor)s::uuid
                           AND b.delivery_id < %(ceiling)s::uuid AND b.number < f.number
                           AND (b.outcome IN ('accepted', 'unanswered') OR b.answered_at > f.at))
           END IS TRUE AS is_sent_after_retry,
           (f.status = ANY(%(given_up)s::smallint[]) AND coalesce(f.sent_at > f.at, true) AND f.number > 1) IS TRUE
               AS is_failed_after_retry,
           CASE WHEN f.is_call AND f.number = 1
                THEN ceil(ln(greatest(date_part('epoch', f.started_at - f.wanted_at) * 1000, 1))
                          / ln(%(gamma)s::double precision))::int END AS accept_to_call,
           CASE WHEN f.is_call
                THEN ceil(ln(greatest(f.latency_ms, 1)::double precision)
                          / ln(%(gamma)s::double precision))::int END AS call_to_answer,
           CASE WHEN f.is_delivered
                THEN ceil(ln(greatest(date_part('epoch', coalesce(f.occurred_at, f.at) - f.wanted_at) * 1000, 1))
                          / ln(%(gamma)s::double precision))::int END AS accept_to_delivered,
           count(*)::int AS events,
           sum(CASE WHEN f.is_settled
                    THEN f.settled_micros - CASE WHEN f.outcome = 'accepted' THEN f.cost_micros ELSE 0 END
                    WHEN f.is_late_answer AND f.settled_at < f.at THEN NULL
                    WHEN (f.is_call OR f.is_late_answer) AND f.outcome = 'accepted'
                    THEN coalesce(f.cost_micros, coalesce(f.segments, 1)
                         * (%(prices)s::bigint[])[array_position(%(channels)s::smallint[], f.channel)]) END
           )::bigint AS cost_micros
    FROM fact f
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26
), job_figures AS (
    -- Totals of bulk jobs, and the present statuses, where an event adds one to its status and takes one from the status
    -- before. `recounts` leaves both as they are.
    INSERT INTO bulk_job_figure AS r (job_id, variant, kind, name, count)
    SELECT t.bulk_job_id, t.variant, v.kind, v.name, sum(v.count)
    FROM tally t
    CROSS JOIN LATERAL (VALUES
        ('total', 'accepted', t.is_accepted::int * t.events),
        ('total', 'sent', t.is_sent::int * t.events),
        ('total', 'delivered', t.is_delivered::int * t.events),
        ('total', 'read', (t.status = %(read)s)::int * t.events),
        ('total', 'clicked', (t.reason = 'client_clicked')::int * t.events),
        ('total', 'failed', (t.status = %(failed)s)::int * t.events),
        ('total', 'bounced', (t.status = %(bounced)s)::int * t.events),
        ('total', 'complained', (t.reason = 'complained')::int * t.events),
        ('total', 'cost_micros', t.cost_micros),
        ('status', (%(status_labels)s::text[])[t.status], t.events),
        ('status', (%(status_labels)s::text[])[t.status_before], -t.events)
    ) AS v(kind, name, count)
    WHERE t.bulk_job_id IS NOT NULL AND NOT %(recounts)s::boolean AND v.count <> 0 AND v.name IS NOT NULL
    GROUP BY t.bulk_job_id, t.variant, v.kind, v.name
    HAVING sum(v.count) <> 0
    ON CONFLICT (job_id, variant, kind, name) DO UPDATE SET count = r.count + excluded.count
), unit AS MATERIALIZED (
    -- A latency of each bin, as a sketch.
    SELECT bin, ('1' || repeat('0', %(digits)s::int * bin))::numeric AS value
    FROM generate_series(0, (SELECT max(greatest(accept_to_call, call_to_answer, accept_to_delivered)) FROM tally)) AS bin
), counts AS MATERIALIZED (
    SELECT row_number() OVER () AS number, t.minute, (t.minute AT TIME ZONE 'UTC')::date AS day, t.mode, t.producer_id,
           t.channel, t.provider, t.priority, t.type, t.template, t.any_country, r.reason,
           sum(t.events) FILTER (WHERE r.part = 1 AND t.is_accepted) AS accepted,
           sum(t.events) FILTER (WHERE r.part = 1 AND t.is_sent) AS sent,
           sum(t.events) FILTER (WHERE r.part = 1 AND t.is_delivered) AS delivered,
           sum(t.events) FILTER (WHERE r.part = 1 AND t.status = %(read)s) AS read,
           sum(t.events) FILTER (WHERE r.part = 1 AND t.reason = 'client_clicked') AS clicked,
           sum(t.events) FILTER (WHERE r.part = 2 AND t.status = %(failed)s) AS failed,
           sum(t.events) FILTER (WHERE r.part = 2 AND t.status = %(bounced)s) AS bounced,
           sum(t.events) FILTER (WHERE r.part = 2 AND t.status = %(expired)s) AS expired,
           sum(t.events) FILTER (WHERE r.part = 2 AND t.status = %(suppressed)s) AS suppressed,
           sum(t.events) FILTER (WHERE r.part = 2 AND t.status = %(cancelled)s) AS cancelled,
           sum(t.events) FILTER (WHERE r.part = 2 AND t.status = %(unknown)s) AS unknown,
           sum(t.events) FILTER (WHERE r.part = 2 AND t.status = %(unconfirmed)s) AS unconfirmed,
           sum(t.events) FILTER (WHERE r.part = 2 AND t.status = %(retrying)s) AS retried,
           sum(t.events) FILTER (WHERE r.part = 1 AND t.reason = 'replayed') AS replayed,
           sum(t.events) FILTER (WHERE r.part = 1 AND t.is_call) AS calls,
           sum(CASE r.part WHEN 3 THEN t.events WHEN 4 THEN -t.events END) AS failed_calls,
           sum(t.events) FILTER (WHERE r.part = 1 AND t.is_sent_after_retry) AS sent_after_retry,
           sum(t.events) FILTER (WHERE r.part = 1 AND t.is_failed_after_retry) AS failed_after_retry,
           sum(t.cost_micros) FILTER (WHERE r.part = 1) AS cost_micros,
           sum(t.events * c.value) AS accept_to_call,
           sum(t.events * a.value) AS call_to_answer,
           sum(t.events * d.value) AS accept_to_delivered
    FROM tally t
    CROSS JOIN LATERAL (VALUES (1, ''), (2, t.reason), (3, t.outcome), (4, 'unanswered')) AS r(part, reason)
    LEFT JOIN unit c ON r.part = 1 AND c.bin = t.accept_to_call
    LEFT JOIN unit a ON r.part = 1 AND a.bin = t.call_to_answer
    LEFT JOIN unit d ON r.part = 1 AND d.bin = t.accept_to_delivered
    WHERE (r.part = 1 AND (t.is_accepted OR t.is_sent OR t.is_delivered OR t.is_call OR t.is_late_answer OR t.is_settled
                           OR t.is_sent_after_retry OR t.status = %(read)s
                           OR t.reason IN ('client_clicked', 'replayed') OR t.is_failed_after_retry))
       OR (r.part = 2 AND t.status = ANY(%(explained)s::smallint[]))
       OR (r.part = 3 AND (t.is_call OR t.is_late_answer) AND t.outcome <> 'accepted')
       OR (r.part = 4 AND t.is_late_answer)
    GROUP BY 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
), combination AS MATERIALIZED (
    SELECT c.*, coalesce(t.template_id, '') AS template_name, coalesce(t.version, 0) AS version,
           CASE WHEN c.mode = %(test)s THEN 'test ' ELSE '' END AS of_mode
    FROM (SELECT DISTINCT day, mode, producer_id, type, template FROM counts) c
    LEFT JOIN notifications_template t ON t.id = c.template
), value AS MATERIALIZED (
    -- The first `most_values` types, templates and producers of a day have figures of their own. Later names are `other`,
    -- except the first `own_values` types and templates of each producer, while the day has fewer than `most_with_own`.
    SELECT DISTINCT c.day, c.of_mode || v.dimension AS dimension, v.value, v.producer_id
    FROM combination c
    CROSS JOIN LATERAL (VALUES ('type', c.type, c.producer_id), ('template', c.template_name, c.producer_id),
                               ('producer', c.producer_id::text, 0)) AS v(dimension, value, producer_id)
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
), named AS MATERIALIZED (
    SELECT day, dimension, value FROM value
    EXCEPT
    SELECT day, dimension, value FROM fresh WHERE NOT is_named
), name AS MATERIALIZED (
    SELECT c.day, c.mode, c.producer_id, c.type, c.template, coalesce(p.value::bigint, 0) AS of_producer,
           coalesce(y.value, %(other)s) AS of_type, coalesce(t.value, %(other)s) AS of_template,
           CASE WHEN t.value IS NOT NULL THEN c.version ELSE 0 END AS of_version
    FROM combination c
    LEFT JOIN named p ON p.dimension = c.of_mode || 'producer' AND p.day = c.day AND p.value = c.producer_id::text
    LEFT JOIN named y ON y.dimension = c.of_mode || 'type' AND y.day = c.day AND y.value = c.type
    LEFT JOIN named t ON t.dimension = c.of_mode || 'template' AND t.day = c.day AND t.value = c.template_name
), target AS MATERIALIZED (
    SELECT d.dimension_set, b.mode,
           CASE WHEN d.has_producer THEN n.of_producer ELSE 0 END AS producer_id, b.channel,
           CASE WHEN d.has_route THEN b.provider ELSE '' END AS provider,
           CASE WHEN d.has_route THEN b.priority ELSE -1 END::smallint AS priority,
           CASE WHEN d.has_type THEN n.of_type ELSE '' END AS type,
           CASE WHEN d.has_type THEN n.of_template ELSE '' END AS template,
           CASE WHEN d.has_type THEN n.of_version ELSE 0 END AS version,
           -- The countries of all channels are those of the set `by_country`; the other sets have those of SMS.
           CASE WHEN d.has_country AND (b.channel = %(sms)s OR d.by_country) THEN b.any_country ELSE '' END AS country,
           b.reason, array_agg(b.number) AS members
    FROM counts b
    JOIN name n ON n.day = b.day AND n.mode = b.mode AND n.producer_id = b.producer_id AND n.type = b.type
        AND n.template = b.template
    CROSS JOIN unnest(%(dimension_sets)s::smallint[], %(has_producer)s::boolean[], %(has_route)s::boolean[],
                      %(has_type)s::boolean[], %(has_country)s::boolean[], %(by_country)s::boolean[])
        AS d(dimension_set, has_producer, has_route, has_type, has_country, by_country)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
), series AS MATERIALIZED (
    SELECT t.*, coalesce(s.id, nextval('rollup_series_id_seq')) AS id, s.id IS NULL AS is_new
    FROM target t
    LEFT JOIN LATERAL (
        SELECT id FROM rollup_series r
        WHERE r.dimension_set = t.dimension_set AND r.mode = t.mode AND r.producer_id = t.producer_id
          AND r.channel = t.channel AND r.type = t.type AND r.template = t.template AND r.version = t.version
          AND r.provider = t.provider AND r.priority = t.priority AND r.country = t.country AND r.reason = t.reason
        OFFSET 0
    ) s ON true
), created AS (
    INSERT INTO rollup_series (id, dimension_set, mode, producer_id, channel, provider, priority, type, template, version,
                               country, reason)
    SELECT id, dimension_set, mode, producer_id, channel, provider, priority, type, template, version, country, reason
    FROM series WHERE is_new
), figure AS MATERIALIZED (
    -- Sums of integers take a fifth of the time of sums of bigints.
    SELECT c.cube, m.id AS series, date_bin(c.step, b.minute, 'epoch') AS bucket,
           sum(b.accepted::int) AS accepted, sum(b.sent::int) AS sent, sum(b.delivered::int) AS delivered,
           sum(b.read::int) AS read, sum(b.clicked::int) AS clicked, sum(b.failed::int) AS failed,
           sum(b.bounced::int) AS bounced, sum(b.expired::int) AS expired, sum(b.suppressed::int) AS suppressed,
           sum(b.cancelled::int) AS cancelled, sum(b.unknown::int) AS unknown, sum(b.unconfirmed::int) AS unconfirmed,
           sum(b.retried::int) AS retried, sum(b.replayed::int) AS replayed, sum(b.calls::int) AS calls,
           nullif(sum(b.failed_calls::int), 0) AS failed_calls, sum(b.sent_after_retry::int) AS sent_after_retry,
           sum(b.failed_after_retry::int) AS failed_after_retry, nullif(sum(b.cost_micros), 0) AS cost_micros,
           sum(b.accept_to_call) AS accept_to_call, sum(b.call_to_answer) AS call_to_answer,
           sum(b.accept_to_delivered) AS accept_to_delivered
    FROM (SELECT id, dimension_set, unnest(members) AS number FROM series) m
    JOIN counts b ON b.number = m.number
    JOIN unnest(%(cubes)s::smallint[], %(steps)s::interval[], %(cube_sets)s::smallint[]) AS c(cube, step, dimension_set)
      ON c.dimension_set = m.dimension_set
    GROUP BY 1, 2, 3
), counters AS (
    INSERT INTO rollup AS r (cube, series, bucket, accepted, sent, delivered, read, clicked, failed, bounced, expired,
                             suppressed, cancelled, unknown, unconfirmed, retried, replayed, calls, failed_calls,
                             sent_after_retry, failed_after_retry, cost_micros)
    SELECT cube, series, bucket, accepted, sent, delivered, read, clicked, failed, bounced, expired, suppressed,
           cancelled, unknown, unconfirmed, retried, replayed, calls, failed_calls, sent_after_retry, failed_after_retry,
           cost_micros
    FROM figure
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
        sent_after_retry =
            coalesce(r.sent_after_retry + excluded.sent_after_retry, r.sent_after_retry, excluded.sent_after_retry),
        failed_after_retry =
            coalesce(r.failed_after_retry + excluded.failed_after_retry, r.failed_after_retry, excluded.failed_after_retry),
        cost_micros = nullif(coalesce(r.cost_micros + excluded.cost_micros, r.cost_micros, excluded.cost_micros), 0)
), sketches AS (
    INSERT INTO rollup_latency AS r (cube, series, kind, bucket, sketch)
    SELECT f.cube, f.series, k.kind, f.bucket, k.sketch
    FROM figure f
    CROSS JOIN LATERAL (VALUES
        (%(accept_to_call)s::smallint, f.accept_to_call),
        (%(call_to_answer)s::smallint, f.call_to_answer),
        (%(accept_to_delivered)s::smallint, f.accept_to_delivered)
    ) AS k(kind, sketch)
    WHERE k.sketch IS NOT NULL AND f.cube = ANY(%(sketch_cubes)s::smallint[])
    ON CONFLICT (cube, series, kind, bucket) DO UPDATE SET sketch = r.sketch + excluded.sketch
)
SELECT (SELECT count(*) FROM page) AS events, (SELECT count(*) FROM fresh WHERE NOT is_named) AS unnamed_values
