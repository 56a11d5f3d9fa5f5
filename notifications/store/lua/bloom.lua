-- Which of these keys are surely new? Asks today's and yesterday's filter, and adds each to today's.
-- KEYS: today's filter, yesterday's. ARGV: seconds to keep a filter, bits asked of a key, then the bit positions of each key in turn.
-- Returns one number a key: 1 new, 0 perhaps seen.
local keep, per_key = tonumber(ARGV[1]), tonumber(ARGV[2])
local answers = {}
for first = 3, #ARGV, per_key do
    local today, yesterday = true, true
    for at = first, first + per_key - 1 do
        if redis.call('SETBIT', KEYS[1], ARGV[at], 1) == 0 then today = false end
        if yesterday and redis.call('GETBIT', KEYS[2], ARGV[at]) == 0 then yesterday = false end
    end
    answers[#answers + 1] = (today or yesterday) and 0 or 1
end
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], keep) end
return answers
