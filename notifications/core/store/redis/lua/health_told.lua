-- Records the results of calls: opens and closes circuit breakers, and reduces the rate at a provider that throttles.
-- `notifications/core/rules/rate_limits/circuit_breaker.py` and `token_bucket.py` describe the rules and numbers.
--
-- KEYS     the set of closed breakers with held rows before the release; then for each result: the breaker (a JSON
--          object; no key is a closed breaker without calls), the reduced rate, the sorted set of the paused endpoints of the
--          provider ('' for the breaker of a provider)
-- ARGV     the shared numbers as JSON; then for each result: the thresholds as JSON, the counts as JSON, the endpoint
-- returns  for each result {0 no change, 1 opened, 2 closed; 1 if open now; number of trusted rejections; the cause of the opening;
--          the confirmed suspects as JSON, '' for none}
local fixed = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function keep(key, it, milliseconds)
  redis.call('SET', key, cjson.encode(it), 'PX', milliseconds)
end

-- A reduced rate is {factor, at, base}: the part of the full rate at a time; base is the measured rate if none is configured.
local function slow_down(key, breaker, rule)
  local pace = cjson.decode(redis.call('GET', key) or '{"factor":1,"at":0}')
  if now - pace.at < fixed.slow_every then return end
  local factor = math.min(1, pace.factor + (now - pace.at) / fixed.recover)
  pace.factor, pace.at = math.max(fixed.slowest, factor / 2), now
  if not pace.base then
    local newest, calls, since = math.floor(now / rule.slot_ms), 0, now
    for _, entry in ipairs(breaker.window or {}) do
      if entry[1] >= newest - 1 then
        calls, since = calls + entry[2], math.min(since, entry[1] * rule.slot_ms)
      end
    end
    pace.base = math.max(fixed.least_base, calls * 1000 / math.max(1000, now - since))
  end
  keep(key, pace, math.ceil(fixed.recover * (1 - pace.factor)))
end

-- Update the calls in flight at an endpoint, by time slots of the longest duration of a call.
local function came_back(breaker, tally, failures)
  local left, ended = {}, tally.calls + tally.returned
  for _, entry in ipairs(breaker.out or {}) do
    local taken = math.min(entry[2], ended)
    ended = ended - taken
    if entry[2] > taken then left[#left + 1] = {entry[1], entry[2] - taken} end
  end
  breaker.out = left
  local answers = tally.accepted + tally.rejected
  breaker.allowed = failures > 0 and fixed.endpoint_calls
    or math.min(fixed.most_endpoint_calls, (breaker.allowed or fixed.endpoint_calls) + answers)
end

local function while_open(keys, breaker, tally)
  local closes = tally.probe == 'accepted' or (tally.probe == 'answered' and not breaker.rejecting)
  if closes and breaker.rejecting then
    -- Rejections are not trusted until the provider accepts most of the following calls.
    keep(keys.breaker, {doubt = now}, fixed.kept_open)
  elseif closes then
    redis.call('DEL', keys.breaker)
  end
  if closes then
    if keys.resting ~= '' then redis.call('ZREM', keys.resting, keys.endpoint) end
    redis.call('SADD', KEYS[1], keys.breaker)
    return {2, 0, tally.rejected, '', ''}
  end
  if tally.probe == 'failed' or tally.probe == 'answered' then
    breaker.probing = nil
    if tally.fault ~= '' then breaker.why = tally.fault end
    if keys.resting ~= '' then redis.call('ZADD', keys.resting, now, keys.endpoint) end
  end
  keep(keys.breaker, breaker, fixed.kept_open)
  return {0, 1, breaker.rejecting and 0 or tally.rejected, '', ''}
end

-- Count failures in a row: the failures within the time of the rule, and all failures with the time of the first.
local function count_rows(breaker, rule, tally, answered)
  local streak, in_a_row = {}, 0
  local function row(entry)
    if entry[1] > now - rule.within_ms then
      streak[#streak + 1] = entry
      in_a_row = in_a_row + entry[2]
    end
  end
  if answered == 0 then
    for _, entry in ipairs(breaker.streak or {}) do row(entry) end
  else
    breaker.quiet = nil
  end
  if tally.last_failures > 0 then
    row({now, tally.last_failures})
    local quiet = breaker.quiet or {now, 0}
    breaker.quiet = {quiet[1], quiet[2] + tally.last_failures}
  end
  breaker.streak = streak
  breaker.faults = (answered == 0 and breaker.faults or 0) + tally.faults
  breaker.dead = (tally.accepted == 0 and breaker.dead or 0) + tally.last_dead
  return in_a_row
end

-- Count calls in the window: {slot, calls, unavailable, unanswered, rejected, trusted rejections, faults of our account,
-- accepted (missing in an entry of an earlier release)}, the oldest slot first.
local function count_window(breaker, rule, tally)
  local slot = math.floor(now / rule.slot_ms)
  local window, sums = {}, {0, 0, 0, 0, 0, 0}
  for _, entry in ipairs(breaker.window or {}) do
    if entry[1] > slot - rule.slots then window[#window + 1] = entry end
  end
  local newest = window[#window]
  if not newest or newest[1] ~= slot then
    newest = {slot, 0, 0, 0, 0, 0, 0}
    window[#window + 1] = newest
  end
  local known = tally.accepted + tally.throttled + tally.unavailable + tally.unanswered + tally.rejected
  local fresh = {tally.calls, tally.unavailable, tally.unanswered, tally.rejected, 0, math.max(0, tally.calls - known)}
  for at = 1, 6 do newest[at + 1] = newest[at + 1] + fresh[at] end
  newest[8] = (newest[8] or 0) + tally.accepted
  for _, entry in ipairs(window) do
    for at = 1, 6 do sums[at] = sums[at] + entry[at + 1] end
  end
  breaker.window = window
  return sums, newest
end

-- Keep the suspects since the last accepted call, each contact once; returns the earlier suspects if a call was accepted just now.
local function count_suspects(breaker, tally)
  local confirmed = tally.confirms and breaker.suspects or nil
  local kept = not tally.confirms and breaker.suspects or {}
  for _, suspect in ipairs(tally.suspects or {}) do
    local known = false
    for _, other in ipairs(kept) do known = known or other.contact_id == suspect.contact_id end
    if not known then kept[#kept + 1] = suspect end
  end
  breaker.suspects = #kept > 0 and kept or nil
  return confirmed and cjson.encode(confirmed) or ''
end

local function suspects_are_many(breaker, tally)
  return #(tally.suspects or {}) > 0 and #(breaker.suspects or {}) >= fixed.suspects
    and now - (breaker.accepted_at or 0) >= fixed.fault_alone
end

local function refusal_wave(breaker, rule, tally, sums)
  if tally.rejected == 0 then return '' end
  if suspects_are_many(breaker, tally) then
    return #breaker.suspects .. ' addresses in a row refused with ' .. breaker.suspects[1].code .. ', which can mean our settings'
  end
  local dead = breaker.dead + #(breaker.suspects or {})
  if dead >= fixed.believed then return dead .. ' addresses in a row called dead' end
  if sums[1] >= fixed.sample and sums[4] > rule.refused_share * sums[1] then
    return sums[4] .. ' of ' .. sums[1] .. ' calls refused'
  end
  return ''
end

local function believed(breaker, tally, sums, dead_before, wave)
  if suspects_are_many(breaker, tally) then return 0 end
  if wave ~= '' then
    return math.min(tally.rejected, math.max(0, fixed.believed - math.max(dead_before, sums[5])))
  end
  if breaker.doubt and sums[1] < fixed.sample then return 0 end
  return tally.rejected
end

local function why_it_trips(breaker, rule, tally, sums, in_a_row)
  local calls, unavailable, failed = sums[1], sums[2], sums[2] + sums[3]
  local last = (tally.failure or '') ~= '' and ', the last: ' .. tally.failure or ''
  local accepted_lately = now - (breaker.accepted_at or 0) < fixed.fault_alone
  if tally.faults > 0 and (not accepted_lately or breaker.faults >= fixed.faults) then return tally.fault end
  if rule.streak > 0 and in_a_row >= rule.streak then return in_a_row .. ' failures in a row' .. last end
  local quiet = breaker.quiet
  if quiet and quiet[2] >= rule.quiet_streak and now - quiet[1] >= rule.quiet_ms then
    return quiet[2] .. ' failures in a row in ' .. math.floor((now - quiet[1]) / 1000) .. ' s' .. last
  end
  if calls < rule.minimum then return '' end
  if unavailable > rule.unavailable_share * calls then return 'unavailable in ' .. unavailable .. ' of ' .. calls .. ' calls' .. last end
  if failed > rule.failed_share * calls then return failed .. ' of ' .. calls .. ' calls failed' .. last end
  return ''
end

local function trip(keys, breaker, why, rejecting)
  keep(keys.breaker, {
    open_since = now, why = why, rejecting = rejecting or nil, window = breaker.window,
    probe_at = now + fixed.probe_every, urgent_at = now + fixed.first_urgent, urgent_gap = fixed.first_urgent,
  }, fixed.kept_open)
  if keys.resting == '' then return end
  redis.call('ZREMRANGEBYSCORE', keys.resting, '-inf', now - fixed.kept_open)
  if redis.call('ZCARD', keys.resting) < fixed.listed then redis.call('ZADD', keys.resting, now, keys.endpoint) end
  redis.call('PEXPIRE', keys.resting, fixed.kept_open)
end

local function told(keys, rule, tally)
  local breaker = cjson.decode(redis.call('GET', keys.breaker) or '{}')
  if breaker.doubt and now - breaker.doubt > fixed.kept_open then breaker.doubt = nil end
  if tally.throttled > 0 then slow_down(keys.pace, breaker, rule) end
  if breaker.open_since then return while_open(keys, breaker, tally) end
  local answered = tally.accepted + tally.rejected + tally.throttled
  if keys.resting ~= '' then came_back(breaker, tally, tally.unavailable + tally.unanswered) end
  if tally.accepted > 0 then breaker.accepted_at = now end
  local dead_before = tally.accepted == 0 and breaker.dead or 0
  local in_a_row = count_rows(breaker, rule, tally, answered)
  local confirmed = count_suspects(breaker, tally)
  local sums, newest = count_window(breaker, rule, tally)
  local wave = refusal_wave(breaker, rule, tally, sums)
  local trusted = believed(breaker, tally, sums, dead_before, wave)
  newest[6] = newest[6] + trusted
  if breaker.doubt and wave == '' and sums[1] >= fixed.sample then breaker.doubt = nil end
  local why = rule.opens and why_it_trips(breaker, rule, tally, sums, in_a_row) or ''
  if why == '' and rule.opens and wave ~= '' then
    trip(keys, breaker, wave, true)
    return {1, 1, trusted, wave, confirmed}
  end
  if why ~= '' then
    trip(keys, breaker, why, false)
    return {1, 1, trusted, why, confirmed}
  end
  local longer = breaker.doubt or breaker.dead > 0 or breaker.suspects
  keep(keys.breaker, breaker, longer and fixed.kept_open or rule.slot_ms * rule.slots)
  return {0, 0, trusted, '', confirmed}
end

local answers = {}
for at = 1, (#KEYS - 1) / 3 do
  local keys = {breaker = KEYS[3 * at - 1], pace = KEYS[3 * at], resting = KEYS[3 * at + 1], endpoint = ARGV[3 * at + 1]}
  answers[at] = told(keys, cjson.decode(ARGV[3 * at - 1]), cjson.decode(ARGV[3 * at]))
end
return answers
