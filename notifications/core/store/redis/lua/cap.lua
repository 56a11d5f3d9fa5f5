-- Counts notifications against frequency caps. A sorted set per recipient and channel has the notifications of the last hour or day;
-- the score is the time of the count in microseconds of the clock of this server.
--
-- KEYS     for each notification: the set of the recipient and channel
-- ARGV     groups of notifications under one cap. For each group: the cap; microseconds of the window; 1 if the notifications are
--          counted above the cap too; the number of notifications; the notifications
-- returns  for each notification: 0 if the notification is counted (now or before), else microseconds until the cap has room
--
-- A notification above the cap is not counted. Each one gets the time of a different free place, so that the notifications do not all
-- return for the same place. Expired members are removed only from a set that looks full; the sets of most recipients never do.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- "%.0f": Lua converts a number to text with 14 digits, and microseconds since 1970 have 16.
local now_text = string.format('%.0f', now)
local waiting = {}

local function prune(key, window)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - window))
end

local function is_counted(key, member, window)
  if redis.call('ZADD', key, 'NX', now_text, member) == 1 then
    return false
  end
  if tonumber(redis.call('ZSCORE', key, member)) > now - window then
    return true
  end
  redis.call('ZADD', key, now_text, member) -- the earlier count has left the window
  return false
end

local function ask(key, member, limit, window, always)
  if is_counted(key, member, window) then
    return 0
  end
  local count = redis.call('ZCARD', key)
  if count > limit then
    prune(key, window)
    count = redis.call('ZCARD', key)
  end
  if count <= limit or always then
    redis.call('PEXPIRE', key, math.ceil(window / 1000))
    return 0
  end
  redis.call('ZREM', key, member)
  local place = (waiting[key] or 0) + 1
  waiting[key] = place
  local leaver = math.min(count - 1 - limit + place, count - 1) - 1
  local entry = redis.call('ZRANGE', key, leaver, leaver, 'WITHSCORES')
  return entry[2] + window - now
end

local answers, at = {}, 1
while at < #ARGV do
  local limit, window, always = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), ARGV[at + 2] == '1'
  local last = at + 3 + ARGV[at + 3]
  for place = at + 4, last do
    answers[#answers + 1] = ask(KEYS[#answers + 1], ARGV[place], limit, window, always)
  end
  at = last + 1
end
return answers
