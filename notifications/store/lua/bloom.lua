-- Which of these keys are surely new? Asks today's and yesterday's filter, and adds each to today's.
-- KEYS: today's filter, yesterday's. ARGV: seconds to keep a filter, bits asked of a key, then the bit positions of all keys as one
-- string of unsigned 32-bit numbers, little end first: seven thousand arguments cost the client more than their hashes.
-- Returns one number a key: 1 new, 0 perhaps seen.
local keep, per_key, positions = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local answers = {}
for first = 1, #positions, 4 * per_key do
    local today, yesterday = true, true
    for at = first, first + 4 * (per_key - 1), 4 do
        local position = struct.unpack('<I4', positions, at)
        if redis.call('SETBIT', KEYS[1], position, 1) == 0 then today = false end
        if yesterday and redis.call('GETBIT', KEYS[2], position) == 0 then yesterday = false end
    end
    answers[#answers + 1] = (today or yesterday) and 0 or 1
end
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], keep) end
return answers
