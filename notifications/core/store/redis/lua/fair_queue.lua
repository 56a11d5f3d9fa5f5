-- Start-time fair queueing of the producers of one lane: assigns places in the virtual time of the lane.
--
-- KEYS     for each request: the hash of the lane. The field `v` is the place that was claimed last while rows were left;
--          the other fields are the last assigned places by producer
-- ARGV     now in microseconds since 1970; then for each request: new value of `v` (`-`: delete, empty: keep), producer, number
--          of places
-- returns  for each request the microsecond before the first place; each place takes one microsecond
local now, starts = tonumber(ARGV[1]), {}
for place, key in ipairs(KEYS) do
  local v, producer, count = ARGV[3 * place - 1], ARGV[3 * place], tonumber(ARGV[3 * place + 1])
  if v == '-' then redis.call('HDEL', key, 'v') elseif v ~= '' then redis.call('HSET', key, 'v', v) end
  local start = tonumber(redis.call('HGET', key, 'v') or now)
  if count > 0 then
    start = math.max(start, tonumber(redis.call('HGET', key, producer) or 0))
    -- "%.0f": Lua converts a number to text with 14 digits, and microseconds since 1970 have 16.
    redis.call('HSET', key, producer, string.format('%.0f', start + count))
  end
  redis.call('EXPIRE', key, 3600)
  starts[place] = start
end
return starts
