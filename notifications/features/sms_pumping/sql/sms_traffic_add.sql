-- Add the counts of an interval to the traffic of a day. Locks the rows in the order of their names.
INSERT INTO sms_traffic (day, ceiling, producer_id, name, peak, total)
SELECT %(day)s, %(ceiling)s, each.producer_id, each.name, each.count, each.count
FROM unnest(%(producers)s::bigint[], %(names)s::text[], %(counts)s::bigint[]) AS each (producer_id, name, count)
ORDER BY each.producer_id, each.name
ON CONFLICT (day, ceiling, producer_id, name)
DO UPDATE SET peak = greatest(sms_traffic.peak, excluded.peak), total = sms_traffic.total + excluded.total
