-- A producer's rate limit: the generic cell rate algorithm, one number for a producer.
-- The number is the instant at which all work granted so far will have been paid for, at the allowed pace.
--
-- KEYS     for each call: where that instant is kept, in microseconds of this server's clock; a key may repeat
-- ARGV     for each call: microseconds that one notification costs; how many fit into the burst; how many are wanted
-- returns  for each call: {granted 0|1, how many are left, microseconds until the burst is whole again, microseconds to wait}
--
-- A call larger than the whole burst is granted when nothing is owed, and pays it off afterwards: refusing it
-- would refuse it for ever.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local function take(key, cost, burst, count)
  local room, wanted = burst * cost, count * cost
  local paid_at = math.max(tonumber(redis.call('GET', key) or now), now)
  local owed = paid_at - now
  if owed > 0 and owed + wanted > room then
    local left = math.max(0, math.floor((room - owed) / cost))
    return {0, left, math.ceil(owed), math.ceil(math.min(owed, owed + wanted - room))}
  end
  owed = owed + wanted
  -- "%.0f": a Lua number turns into text with 14 digits, and microseconds since 1970 have 16.
  redis.call('SET', key, string.format('%.0f', now + owed), 'PX', math.ceil(owed / 1000) + 1)
  return {1, math.max(0, math.floor((room - owed) / cost)), math.ceil(owed), 0}
end

local answers = {}
for number, key in ipairs(KEYS) do
  local first = 3 * number - 2
  answers[number] = take(key, tonumber(ARGV[first]), tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2]))
end
return answers
