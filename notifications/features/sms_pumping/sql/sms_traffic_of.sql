-- Return the traffic since a day by name: the second highest peak, the sum, and the number of days. Locks nothing. Reads the
-- days of the period by one_sms_traffic.
SELECT name, producer_id, coalesce((array_agg(peak ORDER BY peak DESC))[2], 0) AS peak, sum(total)::bigint AS total,
       count(*)::int AS days
FROM sms_traffic
WHERE day > %(since)s AND ceiling = %(ceiling)s
GROUP BY producer_id, name
