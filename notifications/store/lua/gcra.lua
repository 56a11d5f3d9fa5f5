-- A producer's rate limit: the generic cell rate algorithm, one number for a producer.
-- The number is the instant at which all work granted so far will have been paid for, at the allowed pace.
--
-- KEYS[1]  where that instant is kept, in microseconds of this server's clock
-- ARGV     microseconds that one notification costs; how many of them fit into the burst; how many are wanted
-- returns  {granted 0|1, how many are left, microseconds until the burst is whole again, microseconds to wait}
--
-- A call larger than the whole burst is granted when nothing is owed, and pays it off afterwards: refusing it
-- would refuse it for ever.
local cost = tonumber(ARGV[1])
local room = tonumber(ARGV[2]) * cost
local wanted = tonumber(ARGV[3]) * cost

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local paid_at = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local owed = paid_at - now

if owed > 0 and owed + wanted > room then
  local left = math.max(0, math.floor((room - owed) / cost))
  return {0, left, math.ceil(owed), math.ceil(math.min(owed, owed + wanted - room))}
end
owed = owed + wanted
-- "%.0f": a Lua number turns into text with 14 digits, and microseconds since 1970 have 16.
redis.call('SET', KEYS[1], string.format('%.0f', now + owed), 'PX', math.ceil(owed / 1000) + 1)
return {1, math.max(0, math.floor((room - owed) / cost)), math.ceil(owed), 0}
