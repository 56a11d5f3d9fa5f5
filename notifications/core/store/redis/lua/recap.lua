-- Moves the count of notifications to the time at which they leave. A notification that is not counted stays uncounted.
--
-- KEYS     for each notification: a set of `cap.lua`
-- ARGV     for each notification: the notification, microseconds of the window
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2])
for at, key in ipairs(KEYS) do
  if redis.call('ZADD', key, 'XX', 'CH', now, ARGV[2 * at - 1]) == 1 then
    redis.call('PEXPIRE', key, math.ceil(ARGV[2 * at] / 1000))
  end
end
