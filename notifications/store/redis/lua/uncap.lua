-- Takes notifications back that never left: KEYS are sets of cap.lua, ARGV one notification each.
for at, key in ipairs(KEYS) do
  redis.call('ZREM', key, ARGV[at])
end
