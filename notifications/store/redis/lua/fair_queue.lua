-- Start-time fair queueing of one lane's producers: hands out places in the lane's virtual time.
--
-- KEYS     for each ask: the lane's hash. Its field `v` is the place that the relay published last while rows were left over; the
--          others, by producer, are the last places that were given
-- ARGV     microseconds since 1970 now; then for each ask: `v` to set (`-`: forget it, empty: leave it), producer, how many places
-- returns  for each ask the microsecond after which its places lie, one a microsecond
local now, starts = tonumber(ARGV[1]), {}
for place, key in ipairs(KEYS) do
  local v, producer, count = ARGV[3 * place - 1], ARGV[3 * place], tonumber(ARGV[3 * place + 1])
  if v == '-' then redis.call('HDEL', key, 'v') elseif v ~= '' then redis.call('HSET', key, 'v', v) end
  local start = tonumber(redis.call('HGET', key, 'v') or now)
  if count > 0 then
    start = math.max(start, tonumber(redis.call('HGET', key, producer) or 0))
    -- "%.0f": a Lua number turns into text with 14 digits, and microseconds since 1970 have 16.
    redis.call('HSET', key, producer, string.format('%.0f', start + count))
  end
  redis.call('EXPIRE', key, 3600)
  starts[place] = start
end
return starts
