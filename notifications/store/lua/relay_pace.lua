-- How many rows the relays together may publish now for each provider, and what they have published: one GCRA a provider.
--
-- KEYS     one for each provider
-- ARGV     for each: microseconds that one row costs, rows of the burst, microseconds to charge (0: only ask)
-- returns  for each: rows that are free after the charge; negative when more was published than its pace allows
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local free = {}
for place, key in ipairs(KEYS) do
  local cost, burst, charge = tonumber(ARGV[3 * place - 2]), tonumber(ARGV[3 * place - 1]), tonumber(ARGV[3 * place])
  local paid = math.max(tonumber(redis.call('GET', key) or 0), now)
  if charge > 0 then
    paid = paid + charge
    redis.call('SET', key, string.format('%.0f', paid), 'PX', math.ceil((paid - now) / 1000) + 1)
  end
  free[place] = math.floor(burst - (paid - now) / cost)
end
return free
