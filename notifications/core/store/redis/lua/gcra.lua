-- The rate limit of producers by the generic cell rate algorithm (GCRA), with one stored time for a producer: the end of all granted
-- work at the allowed rate.
--
-- KEYS     for each call: the key of the stored time, in microseconds of the clock of this server; a key may occur more than once
-- ARGV     for each call: microseconds per notification; notifications of the burst; number of notifications
-- returns  for each call: {1 if granted, else 0; remaining notifications; microseconds until the burst is full again; microseconds to
--          wait}
--
-- A call larger than the burst is granted when no work is left, and delays later calls. Otherwise such a call would never be granted.
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
  -- "%.0f": Lua converts a number to text with 14 digits, and microseconds since 1970 have 16.
  redis.call('SET', key, string.format('%.0f', now + owed), 'PX', math.ceil(owed / 1000) + 1)
  return {1, math.max(0, math.floor((room - owed) / cost)), math.ceil(owed), 0}
end

local answers = {}
for number, key in ipairs(KEYS) do
  local first = 3 * number - 2
  answers[number] = take(key, tonumber(ARGV[first]), tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2]))
end
return answers
