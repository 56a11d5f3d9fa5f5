-- Counts a provider's reports of dead addresses against its accepted calls and receipts of success of the last minutes, or
-- against the accepted calls of the spans in which the reported messages were sent.
-- `notifications/core/store/rate_limits/bounce_doubts.py` describes the rule and the numbers.
--
-- KEYS     the counts of the provider (a JSON object); the set of the deliveries counted as dead lately; the breakers of its channels
-- ARGV     the shared numbers as JSON; receipts of success; the accepted calls by the span of the messages as JSON; the
--          deliveries with dead addresses
-- returns  the number of believed reports of these dead addresses
local fixed = cjson.decode(ARGV[1])
local arrived, dead = tonumber(ARGV[2]), #ARGV - 3
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slot = math.floor(now / fixed.slot)
local it = cjson.decode(redis.call('GET', KEYS[1]) or '{}')
if it.doubt and now - it.doubt > fixed.kept then it.doubt = nil end

-- A repeated report counts once: a provider repeats a callback that was not stored. The set begins anew after the time of a window.
local counted, fresh = redis.call('SCARD', KEYS[2]), dead
if counted < fixed.listed then
  fresh = 0
  for at = 4, #ARGV do fresh = fresh + redis.call('SADD', KEYS[2], ARGV[at]) end
  if counted == 0 and fresh > 0 then redis.call('PEXPIRE', KEYS[2], fixed.slot * fixed.slots) end
end

-- The window: {slot, dead addresses, receipts of success, believed reports}, the oldest slot first.
local window, sums = {}, {0, 0, 0}
for _, entry in ipairs(it.window or {}) do
  if entry[1] > slot - fixed.slots then window[#window + 1] = entry end
end
local newest = window[#window]
if not newest or newest[1] ~= slot then
  newest = {slot, 0, 0, 0}
  window[#window + 1] = newest
end
newest[2], newest[3] = newest[2] + fresh, newest[3] + arrived
for _, entry in ipairs(window) do
  for at = 1, 3 do sums[at] = sums[at] + entry[at + 1] end
end

local accepted = 0
for at = 3, #KEYS do
  local breaker = cjson.decode(redis.call('GET', KEYS[at]) or '{}')
  for _, entry in ipairs(breaker.window or {}) do
    if entry[1] > slot - fixed.slots then accepted = accepted + (entry[8] or 0) end
  end
end

-- The spans of the messages, by the reports of the window: {slot of the last report, accepted calls}.
local spans = {}
for name, entry in pairs(it.spans or {}) do
  if entry[1] > slot - fixed.slots then spans[name] = entry end
end
for name, calls in pairs(cjson.decode(ARGV[3])) do spans[name] = {slot, calls} end
for _, entry in pairs(spans) do accepted = accepted + entry[2] end
it.spans = next(spans) and spans or nil

local known = math.max(sums[1] + sums[2], accepted)
local trusted = dead
if sums[1] >= fixed.sample and sums[1] > fixed.share * known then
  it.doubt = now
  trusted = math.min(dead, math.max(0, fixed.believed - sums[3]))
elseif it.doubt and known < fixed.sample then
  trusted = 0
elseif dead > 0 or known >= fixed.sample then
  it.doubt = nil
end
newest[4] = newest[4] + math.min(trusted, fresh)
it.window = window
redis.call('SET', KEYS[1], cjson.encode(it), 'PX', it.doubt and fixed.kept or fixed.slot * fixed.slots)
return trusted
