-- What calls of one provider on one channel came to: may trip its breaker, or close it. `rules/breaker.py` says what each field
-- is and does the same for one process; one set of tests holds both.
--
-- KEYS[1]  the breaker: a JSON object; none is a closed one of which nothing is known
-- ARGV     the thresholds and the tally, as JSON; milliseconds between two probes; milliseconds to keep a breaker that is open
-- returns  {what changed: 0 nothing, 1 tripped, 2 closed; why}
local rule, tally = cjson.decode(ARGV[1]), cjson.decode(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local breaker = cjson.decode(redis.call('GET', KEYS[1]) or '{}')

local function keep(it, milliseconds)
  redis.call('SET', KEYS[1], cjson.encode(it), 'PX', milliseconds)
end

if breaker.open_since then
  if not breaker.probing then return {0, ''} end
  local clean = tally.unavailable + tally.unanswered == 0 and tally.fault == ''
  if clean and tally.answered > 0 then
    redis.call('DEL', KEYS[1])
    return {2, ''}
  end
  breaker.probing = nil
  if tally.fault ~= '' then breaker.why = tally.fault end
  keep(breaker, ARGV[4])
  return {0, ''}
end

local streak, in_a_row = {}, 0
local function row(entry)
  if entry[1] > now - rule.within_ms then
    streak[#streak + 1] = entry
    in_a_row = in_a_row + entry[2]
  end
end
if tally.answered == 0 then
  for _, entry in ipairs(breaker.streak or {}) do row(entry) end
end
if tally.last_failures > 0 then row({now, tally.last_failures}) end

local slot = math.floor(now / rule.slot_ms)
local window, calls, unavailable, unanswered = {}, 0, 0, 0
local function count(entry)
  calls, unavailable, unanswered = calls + entry[2], unavailable + entry[3], unanswered + entry[4]
end
for _, entry in ipairs(breaker.window or {}) do
  if entry[1] > slot - rule.slots then
    window[#window + 1] = entry
    count(entry)
  end
end
local fresh = {slot, tally.answered + tally.unavailable + tally.unanswered, tally.unavailable, tally.unanswered}
local newest = window[#window]
if newest and newest[1] == slot then
  for at = 2, 4 do newest[at] = newest[at] + fresh[at] end
else
  window[#window + 1] = fresh
end
count(fresh)

local failed, why = unavailable + unanswered, tally.fault
if why == '' then
  if rule.streak > 0 and in_a_row >= rule.streak then
    why = in_a_row .. ' failures in a row'
  elseif calls >= rule.minimum and unavailable > rule.unavailable_share * calls then
    why = 'unavailable in ' .. unavailable .. ' of ' .. calls .. ' calls'
  elseif calls >= rule.minimum and failed > rule.failed_share * calls then
    why = failed .. ' of ' .. calls .. ' calls failed'
  end
end

if why == '' then
  keep({streak = streak, window = window}, rule.slot_ms * rule.slots)
  return {0, ''}
end
keep({open_since = now, probe_at = now + ARGV[3], why = why}, ARGV[4])
return {1, why}
