-- Count the entries that suppress.sql would insert. Locks nothing; one look-up an entry in the index
-- one_active_suppression. Parameters: arrays of equal length.
SELECT count(*) AS new
FROM (SELECT DISTINCT w.channel, suppressible(w.channel, w.address) AS address, w.reason
      FROM unnest(%(channels)s::smallint[], %(addresses)s::text[], %(reasons)s::text[])
          AS w(channel, address, reason)) w
WHERE NOT EXISTS (SELECT FROM notifications_suppression s
                  WHERE s.channel = w.channel AND s.address = w.address AND s.reason = w.reason
                    AND s.undone_at IS NULL)
