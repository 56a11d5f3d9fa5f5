-- A writer announces itself: no reader stores an entry until the writer is done, and the entry goes.
--
-- KEYS     for each recipient: the entry (hash); the writers at work (sorted set: token of a writer -> end of its time)
-- ARGV     token of the writer; milliseconds after which a killed writer counts as done
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2]
for at = 1, #KEYS, 2 do
  redis.call('ZADD', KEYS[at + 1], ends, ARGV[1])
  redis.call('PEXPIRE', KEYS[at + 1], ARGV[2])
  redis.call('DEL', KEYS[at])
end
