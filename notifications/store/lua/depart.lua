-- May these leave, and when? Asks the breaker and the bucket of every provider that a batch goes to, and reserves its slots.
-- The breaker's part is `rules/breaker.py`, the bucket's `rules/bucket.py`.
--
-- KEYS     for each ask: its breaker, its bucket
-- ARGV     milliseconds between two probes; milliseconds that a probe's answer is waited for; the share of the patient; then for
--          each ask: how many, 1 when they are urgent, microseconds that they may be served ahead, microseconds that a call
--          costs (0: no bucket), calls in the burst
-- returns  for each ask {0 closed, 1 open, 2 one probe; milliseconds to wait; microseconds to the first slot that was not given;
--          microseconds to each slot that was}
--
-- A bucket is three instants in microseconds. `paid`: when everything granted so far will have been paid for at the full pace.
-- `own`: the same for the patient alone, at their share of it. `last`: the patient's last slot; those before it that are still
-- to come stand at their own distance from each other, so `last` tells how many they are.
local probe_every, probe_answers, share = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now_ms = math.floor(now_us / 1000)

local function door(key)
  local kept = redis.call('GET', key)
  local breaker = kept and cjson.decode(kept) or {}
  if not breaker.open_since then return 0, 0 end
  if now_ms >= breaker.probe_at then
    breaker.probe_at, breaker.probing = now_ms + probe_every, now_ms
    redis.call('SET', key, cjson.encode(breaker), 'KEEPTTL')
    return 2, probe_answers
  end
  local answers_at = (breaker.probing or -probe_answers) + probe_answers
  return 1, (answers_at > now_ms and answers_at or breaker.probe_at) - now_ms
end

local function slots(key, count, is_urgent, ahead, cost, burst)
  local kept = redis.call('HMGET', key, 'paid', 'own', 'last')
  local last = tonumber(kept[3] or 0)
  local spaced, room = cost / share, burst * cost
  -- At an instant at least this much must still be paid for: the patient's slot that came last, and those to come.
  local function least(instant)
    local pending = math.max(0, math.ceil((last - instant) / spaced))
    return math.max(instant, last - pending * spaced + cost) + pending * cost
  end
  local paid = math.max(tonumber(kept[1] or 0), least(now_us))
  local own = math.max(tonumber(kept[2] or 0), now_us)
  local given, at = {}, now_us
  for _ = 1, count do
    local free = paid + cost - room
    if is_urgent then
      -- The patient's slots to come are not queued behind: they take only their share of the time until `last`, the rest of it
      -- is free. One call's worth stays free, for the one of them that comes right after; a burst of one has none to spare.
      if last > now_us and burst < 2 then free = math.max(free, last + cost)
      elseif last > now_us then free = free + cost end
      if free < last then free = (free - share * last) / (1 - share) end
      at = math.max(now_us, free)
    else
      at = math.max(now_us, own + spaced - math.max(room, spaced))
      if free > at then at = math.max(free, now_us + ahead + 1) end
    end
    if at > now_us + ahead then break end
    given[#given + 1] = math.ceil(at - now_us)
    if is_urgent then
      paid = math.max(paid, least(at)) + cost
    else
      paid, own, last = paid + cost, own + spaced, math.max(last, at)
    end
  end
  if #given > 0 then
    -- "%.0f": a Lua number turns into text with 14 digits, and microseconds since 1970 have 16.
    local form = function(instant) return string.format('%.0f', math.ceil(instant)) end
    redis.call('HSET', key, 'paid', form(paid), 'own', form(own), 'last', form(last))
    redis.call('PEXPIRE', key, math.ceil((math.max(paid, own, last) - now_us) / 1000) + 1)
  end
  return given, math.ceil(at - now_us)
end

local answers, at = {}, 4
for ask = 1, #KEYS / 2 do
  local count, is_urgent, ahead = tonumber(ARGV[at]), ARGV[at + 1] == '1', tonumber(ARGV[at + 2])
  local cost, burst = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  at = at + 5
  local state, wait = door(KEYS[2 * ask - 1])
  local given, later = {}, 0
  if state == 0 and cost > 0 then
    given, later = slots(KEYS[2 * ask], count, is_urgent, ahead, cost, burst)
  end
  answers[ask] = {state, wait, later, given}
end
return answers
