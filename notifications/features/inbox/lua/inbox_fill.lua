-- Store fields of an entry, if the lease of the reader is still there, and of this run of the server (see inbox_read.lua).
--
-- KEYS     the entry
-- ARGV     lease; milliseconds until the entry expires; then names and values of fields
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local found = redis.call('HMGET', KEYS[1], 'run', 'lease')
if found[1] == run and found[2] == ARGV[1] then
  redis.call('HSET', KEYS[1], unpack(ARGV, 3))
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
