-- Return the first `depth` positions of each ordering key and channel. Parameters: `keys` and `channels` of equal
-- length. Locks nothing. Uses ordered_line.
SELECT first.id, first.key_id, first.channel, first.delivery_id, first.held_since, now() AS now
FROM unnest(%(keys)s::bigint[], %(channels)s::smallint[]) AS l(key_id, channel)
CROSS JOIN LATERAL (
    SELECT id, key_id, channel, delivery_id, held_since FROM ordered_delivery o
    WHERE o.key_id = l.key_id AND o.channel = l.channel
    ORDER BY o.id LIMIT %(depth)s
) first
