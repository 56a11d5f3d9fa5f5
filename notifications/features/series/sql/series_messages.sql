-- Return the sent messages of enrolments, with the best status of the deliveries and whether a link was clicked.
-- Locks nothing. Uses one_step_result, and the primary keys of the partitions of delivery.
SELECT h.enrolment_id, h.position,
       coalesce(max(d.status) FILTER (WHERE d.status IN (%(delivered)s, %(read)s)), 0) AS status,
       coalesce(bool_or(d.clicked), false) AS clicked
FROM series_step_result h
LEFT JOIN LATERAL (
    SELECT v.status, v.status = %(read)s AND EXISTS (
        SELECT FROM event t WHERE t.notification_id = h.notification_id AND t.delivery_id = v.id
          AND t.notification_id >= %(floor)s::uuid AND t.notification_id < %(ceiling)s::uuid
          AND t.reason = 'client_clicked'
    ) AS clicked
    FROM delivery v
    WHERE v.id > h.notification_id AND v.id <= last_delivery_of(h.notification_id)
      AND v.id >= %(floor)s::uuid AND v.id < %(ceiling)s::uuid
) d ON true
WHERE h.enrolment_id = ANY(%(enrolments)s) AND h.position = ANY(%(positions)s) AND h.notification_id IS NOT NULL
GROUP BY h.enrolment_id, h.position
