-- A writer is done: remove its mark and once more the entry, and publish the new versions.
--
-- KEYS     for each recipient: the entry; the writers at work; the channel
-- ARGV     token of the writer; then for each recipient the version, empty without a change
for at = 1, #KEYS, 3 do
  redis.call('ZREM', KEYS[at + 1], ARGV[1])
  redis.call('DEL', KEYS[at])
  local version = ARGV[(at + 2) / 3 + 1]
  if version ~= '' then
    redis.call('PUBLISH', KEYS[at + 2], version)
  end
end
