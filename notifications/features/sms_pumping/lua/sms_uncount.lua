-- Removes SMS from the counts of `sms_count.lua`, because the rows were not stored.
--
-- KEYS     names of the counts of prefixes and of countries; then for each SMS: the set of the address
-- ARGV     seconds of an interval of prefixes, of countries; then for each SMS: member, prefix, country, producer
local seconds = tonumber(redis.call('TIME')[1])

-- The SMS can have been counted just before the start of the interval.
local function take(name, length, field)
  local number = math.floor(seconds / length)
  for back = 0, 1 do
    local key = name .. ':' .. (number - back)
    if tonumber(redis.call('HGET', key, field) or 0) > 0 then
      redis.call('HINCRBY', key, field, -1)
      return
    end
  end
end

for number = 3, #KEYS do
  local at = 3 + (number - 3) * 4
  local prefix, country, producer = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  if redis.call('ZREM', KEYS[number], ARGV[at]) == 1 then
    take(KEYS[1], tonumber(ARGV[1]), prefix)
    for _, field in ipairs({country, '*', producer .. ':' .. country, producer .. ':*'}) do
      take(KEYS[2], tonumber(ARGV[2]), field)
    end
  end
end
