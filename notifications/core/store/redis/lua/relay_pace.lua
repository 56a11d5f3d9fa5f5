-- The publish quota: how many rows all relays together may publish now for the providers of a lane, and the count of published rows.
-- One GCRA for each provider. While a provider throttles, the reduced rate applies (see `health_told.lua`).
--
-- KEYS     for each provider: the account, the reduced rate
-- ARGV     share of the deliveries that are not urgent, milliseconds until the rate has recovered, number of published rows (0: only
--          read); then for each provider: microseconds per row at the full rate (0: no rate configured), rows of the burst
-- returns  number of rows that may be published, negative after too many; false: no limit, because a provider has no rate
local share, recover, rows = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]

local function paced(kept, cost, burst)
  if not kept then return cost, burst end
  local pace = cjson.decode(kept)
  local factor = math.min(1, pace.factor + (now_us / 1000 - pace.at) / recover)
  if factor == 1 then return cost, burst end
  if cost == 0 then cost, burst = 1000000 / (pace.base * share), pace.base end
  return cost / factor, math.max(1, math.floor(burst * factor))
end

local accounts, rate = {}, 0
for place = 1, #KEYS / 2 do
  local cost, burst = tonumber(ARGV[2 * place + 2]), tonumber(ARGV[2 * place + 3])
  cost, burst = paced(redis.call('GET', KEYS[2 * place]), cost, burst)
  if cost == 0 then return false end
  accounts[place] = {key = KEYS[2 * place - 1], cost = cost, burst = burst}
  rate = rate + 1 / cost
end
local free = 0
for _, account in ipairs(accounts) do
  local paid = math.max(tonumber(redis.call('GET', account.key) or 0), now_us)
  if rows > 0 then
    -- Charge each provider for the same duration, so by its part of the total rate.
    paid = paid + rows / rate
    redis.call('SET', account.key, string.format('%.0f', paid), 'PX', math.ceil((paid - now_us) / 1000) + 1)
  end
  free = free + math.floor(account.burst - (paid - now_us) / account.cost)
end
return free
