-- Counts notifications against caps: of each person and channel those of the last hour or day, in a sorted set.
-- A member is a notification, its score the instant in microseconds of this server's clock at which it was counted.
--
-- KEYS     for each ask: its set
-- ARGV     for each ask: how many fit into its window; microseconds of the window; 1 when they are counted even if they do not
--          fit; how many notifications; then each of them
-- returns  for each ask, for each notification: 0 when it is counted (now, or before), else microseconds until there is room
--
-- What finds no room is not counted. Each of those is told of a place of its own, so that they do not all come back for one.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function ask(key, limit, window, always, members)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - window))
  local count = redis.call('ZCARD', key)
  local known = count > 0
  local answers, fresh, waiting = {}, {}, 0
  for at, member in ipairs(members) do
    if known and redis.call('ZSCORE', key, member) then
      answers[at] = 0
    elseif always or count < limit then
      answers[at] = 0
      count = count + 1
      -- "%.0f": a Lua number turns into text with 14 digits, and microseconds since 1970 have 16.
      fresh[#fresh + 1] = string.format('%.0f', now)
      fresh[#fresh + 1] = member
    else
      answers[at] = -1
    end
  end
  if #fresh > 0 then
    redis.call('ZADD', key, unpack(fresh))
    redis.call('PEXPIRE', key, math.ceil(window / 1000))
  end
  for at = 1, #members do
    if answers[at] < 0 then
      waiting = waiting + 1
      local leaver = math.min(count - limit + waiting, count) - 1
      local entry = redis.call('ZRANGE', key, leaver, leaver, 'WITHSCORES')
      answers[at] = entry[2] + window - now
    end
  end
  return answers
end

local answers, at = {}, 1
for place, key in ipairs(KEYS) do
  local last = at + 3 + ARGV[at + 3]
  answers[place] = ask(
    key, tonumber(ARGV[at]), tonumber(ARGV[at + 1]), ARGV[at + 2] == '1', {unpack(ARGV, at + 4, last)}
  )
  at = last + 1
end
return answers
