-- SET NX for many keys with one expiry: an existing value stays.
--
-- KEYS     the keys
-- ARGV     seconds until the keys expire; then one value for each key
for at, key in ipairs(KEYS) do
    redis.call('SET', key, ARGV[at + 1], 'EX', ARGV[1], 'NX')
end
