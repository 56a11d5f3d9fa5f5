-- Removes notifications that did not leave from the counts of frequency caps.
--
-- KEYS     for each notification: a set of `cap.lua`
-- ARGV     the notifications
for at, key in ipairs(KEYS) do
  redis.call('ZREM', key, ARGV[at])
end
