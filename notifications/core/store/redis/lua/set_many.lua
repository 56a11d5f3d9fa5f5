-- SET for many keys with one expiry. A pipeline of SETs costs the client ten times as much.
--
-- KEYS     the keys
-- ARGV     seconds until the keys expire; then one value for each key
for at, key in ipairs(KEYS) do
    redis.call('SET', key, ARGV[at + 1], 'EX', ARGV[1])
end
