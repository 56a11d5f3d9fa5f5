-- Moves what is counted to the moment at which it leaves: KEYS are sets of cap.lua, ARGV for each a notification and the microseconds
-- of its window. What is not counted stays so.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2])
for at, key in ipairs(KEYS) do
  if redis.call('ZADD', key, 'XX', 'CH', now, ARGV[2 * at - 1]) == 1 then
    redis.call('PEXPIRE', key, math.ceil(ARGV[2 * at] / 1000))
  end
end
