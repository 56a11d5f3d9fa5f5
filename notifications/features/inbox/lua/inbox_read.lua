-- Read a field of an entry; without the field, give the reader a lease that permits storing the field.
--
-- KEYS     the entry (hash: run, lease, fields); the writers at work
-- ARGV     field; token of a new lease; milliseconds of the lease
-- returns  {field or false, lease or false}: no lease while a writer is at work
--
-- Readers share a lease: each of them read the database after the lease was made. A writer deletes the entry with the lease, so
-- a value read before the end of a write is never stored after the write. An entry of another run of the server is deleted:
-- a restart or a failover may bring back an entry that a writer had deleted.
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local found = redis.call('HMGET', KEYS[1], 'run', ARGV[1])
if found[1] ~= run then
  redis.call('DEL', KEYS[1])
elseif found[2] then
  return {found[2], false}
end
local time = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', time[1] * 1000 + math.floor(time[2] / 1000))
if redis.call('EXISTS', KEYS[2]) == 1 then
  return {false, false}
end
if redis.call('HSETNX', KEYS[1], 'lease', ARGV[2]) == 1 then
  redis.call('HSET', KEYS[1], 'run', run)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return {false, redis.call('HGET', KEYS[1], 'lease')}
