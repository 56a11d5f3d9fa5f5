-- Send admission: checks the circuit breaker and the token bucket of each provider or endpoint of a batch, and reserves send slots.
-- `notifications/core/rules/rate_limits/circuit_breaker.py` and `token_bucket.py` describe the rules and numbers.
--
-- KEYS     for each request: the breaker, the token bucket, the reduced rate (see `health_told.lua`)
-- ARGV     the shared numbers as JSON; then for each request: number of deliveries for a slot, number of all deliveries, 1 if
--          the deliveries are urgent (P0, P1), microseconds for which a slot may be reserved ahead, microseconds per call (0: no bucket),
--          calls of the burst, two candidates for the probe ('': none), 1 if the deliveries have no other provider, 1 if the
--          breaker belongs to an endpoint
-- returns  for each request {0 closed, 1 open, 2 one probe; milliseconds to wait; number of calls that the endpoint takes; number of
--          the candidate that is the probe, or the delivery of the last probe; microseconds to the first slot that was not
--          reserved; microseconds between slots; microseconds to each reserved slot}
--
-- A bucket has three times in microseconds. `paid`: the end of the reserved time at the full rate. `own`: the end of the reserved
-- time of deliveries that are not urgent, at their share of the rate. `last`: the last slot of a delivery that is not urgent; earlier
-- slots have a constant distance, so `last` gives the number of slots to come.
local fixed = cjson.decode(ARGV[1])
local share = fixed.share
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now_ms = math.floor(now_us / 1000)
local ASKED = 10

-- Return {state, wait, which}: `which` is the number of the candidate that is the probe, or the delivery of the last probe.
local function while_open(key, breaker, ask)
  local last = breaker.probe_of or ''
  local function keep() redis.call('SET', key, cjson.encode(breaker), 'KEEPTTL') end
  local urgent = ask.urgent and ask.alone
  local due = math.min(breaker.probe_at, urgent and breaker.urgent_at or breaker.probe_at)
  if now_ms >= due then
    local which = (ask.first ~= '' and ask.first ~= last and 1) or (ask.second ~= '' and ask.second ~= last and 2)
    if not which and ask.first ~= '' and (breaker.yielded or not breaker.others) then which = 1 end
    if which then
      breaker.probe_of = which == 1 and ask.first or ask.second
      breaker.probing, breaker.probe_at = now_ms, now_ms + fixed.probe_every
      breaker.urgent_gap = math.min((breaker.urgent_gap or fixed.first_urgent) * 2, fixed.urgent_every)
      breaker.urgent_at = now_ms + breaker.urgent_gap
      breaker.others, breaker.yielded = nil, nil
      keep()
      return 2, fixed.answers_within, which
    end
    breaker.yielded = true
    keep()
    return 1, fixed.yields_for, last
  end
  if ask.everyone > 1 or ask.first ~= last then breaker.others = true end
  local answered_at = (breaker.probing or -fixed.answers_within) + fixed.answers_within
  local from = answered_at > now_ms and answered_at or due
  if ask.urgent then
    from = math.max(from, breaker.look_at or 0)
    breaker.look_at = from + math.ceil(ask.everyone * 1000 / fixed.looks)
  end
  keep()
  return 1, from - now_ms, last
end

-- Return how many further calls an endpoint takes. `out` counts calls in flight by time slots of the longest duration of a call.
local function endpoint_room(breaker, ask)
  local slot, out, kept = math.floor(now_ms / fixed.call_takes), 0, {}
  for _, entry in ipairs(breaker.out or {}) do
    if entry[1] >= slot - 1 then
      out = out + entry[2]
      kept[#kept + 1] = entry
    end
  end
  breaker.out = kept
  return math.max(0, math.min(ask.count, (breaker.allowed or fixed.endpoint_calls) - out))
end

local function note_out(key, breaker, count)
  local slot, newest = math.floor(now_ms / fixed.call_takes), breaker.out[#breaker.out]
  if newest and newest[1] == slot then newest[2] = newest[2] + count
  else breaker.out[#breaker.out + 1] = {slot, count} end
  redis.call('SET', key, cjson.encode(breaker), 'PX', math.max(redis.call('PTTL', key), 2 * fixed.call_takes))
end

-- Return the microseconds per call and the burst, at the reduced rate while the provider throttles.
local function paced(key, cost, burst)
  local kept = redis.call('GET', key)
  if not kept then return cost, burst end
  local pace = cjson.decode(kept)
  local factor = math.min(1, pace.factor + (now_ms - pace.at) / fixed.recover)
  if factor == 1 then return cost, burst end
  if cost == 0 then cost, burst = 1000000 / pace.base, pace.base end
  return cost / factor, math.max(1, math.floor(burst * factor))
end

local function slots(key, count, is_urgent, ahead, cost, burst)
  local kept = redis.call('HMGET', key, 'paid', 'own', 'last')
  local last = tonumber(kept[3] or 0)
  local spaced, room = cost / share, burst * cost
  -- Return the lowest `paid` at an instant: the last slot of the deliveries that are not urgent, and their slots to come.
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
      -- Urgent deliveries do not wait for the reserved slots of the others, which take only their share of the time until
      -- `last`. The time of one call stays free for the slot that follows; a burst of one call has no such time.
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
    -- "%.0f": Lua converts a number to text with 14 digits, and microseconds since 1970 have 16.
    local form = function(instant) return string.format('%.0f', math.ceil(instant)) end
    redis.call('HSET', key, 'paid', form(paid), 'own', form(own), 'last', form(last))
    redis.call('PEXPIRE', key, math.ceil((math.max(paid, own, last) - now_us) / 1000) + 1)
  end
  return given, math.ceil(at - now_us)
end

local function answer(keys, ask, ahead, cost, burst)
  local kept = keys.breaker ~= '' and redis.call('GET', keys.breaker)
  local breaker = kept and cjson.decode(kept) or {}
  local spacing = math.ceil(ask.urgent and cost or cost / share)
  if breaker.open_since then
    local state, wait, which = while_open(keys.breaker, breaker, ask)
    return {state, wait, 0, which, 0, spacing, {}}
  end
  local room = ask.endpoint and endpoint_room(breaker, ask) or ask.count
  local given, later = {}, 0
  if cost > 0 then given, later = slots(keys.bucket, room, ask.urgent, ahead, cost, burst) end
  local out = cost > 0 and #given or room
  if ask.endpoint and out > 0 then note_out(keys.breaker, breaker, out) end
  return {0, 0, room, '', later, spacing, given}
end

local answers, at = {}, 2
for number = 1, #KEYS / 3 do
  local keys = {breaker = KEYS[3 * number - 2], bucket = KEYS[3 * number - 1], pace = KEYS[3 * number]}
  local ask = {
    count = tonumber(ARGV[at]), everyone = tonumber(ARGV[at + 1]), urgent = ARGV[at + 2] == '1',
    first = ARGV[at + 6], second = ARGV[at + 7], alone = ARGV[at + 8] == '1', endpoint = ARGV[at + 9] == '1',
  }
  local cost, burst = paced(keys.pace, tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5]))
  answers[number] = answer(keys, ask, tonumber(ARGV[at + 3]), cost, burst)
  at = at + ASKED
end
return answers
