-- Counts P0 and P1 SMS against the ceilings of SMS pumping protection. An SMS above a ceiling is refused and not counted; one
-- above the ceiling of its prefix counts for the traffic of the country, from which the ceilings of other prefixes grow.
--
-- KEYS     names of the counts of prefixes, of countries, of refusals and of SMS refused by prefix; then for each SMS: the set
--          of the address
-- ARGV     1 if ceilings refuse, 0 if SMS above a ceiling are counted and recorded; seconds of the window of an address; of an
--          interval of prefixes; of an interval of countries; then for each SMS: member, prefix, country, producer, ceiling of the
--          address; floor and share of the ceilings of prefix, country and country of the producer. -1: no ceiling
-- returns  for each SMS: {0 counted now, 1 counted before, 2 to 5 refused by address, prefix, country, country of the producer;
--          seconds to wait}
--
-- An address has a sorted set of the SMS of its window. Prefixes and countries have a hash for each interval; the name ends with the
-- number of the interval. The count of the last interval is the count of the present hash, and of the hash before in proportion to
-- the time that the sliding window shares with it. The member of an SMS stays the same in each repeat, so a repeat counts once.
local refuses, window = ARGV[1] == '1', tonumber(ARGV[2])
local time = redis.call('TIME')
local seconds = tonumber(time[1])
local now = seconds * 1000000 + tonumber(time[2])
local now_text = string.format('%.0f', now) -- "%.0f": Lua converts a number to text with 14 digits
local oldest = string.format('%.0f', now - window * 1000000)
local KEPT = {[KEYS[1]] = 7200, [KEYS[2]] = 21600, [KEYS[3]] = 10800, [KEYS[4]] = 10800} -- seconds

local function interval(name, length)
  local number = math.floor(seconds / length)
  local passed = seconds - number * length
  return {
    name = name .. ':' .. number, before = name .. ':' .. (number - 1), length = length, left = length - passed,
    weight = 1 - passed / length, kept = KEPT[name], counts = {}, added = {},
  }
end

local prefixes, countries = interval(KEYS[1], tonumber(ARGV[3])), interval(KEYS[2], tonumber(ARGV[4]))
local refusals = interval(KEYS[3], tonumber(ARGV[3]))
local refused = interval(KEYS[4], tonumber(ARGV[4]))

-- The count of a field, read once in a call.
local function read(of, field)
  local count = of.counts[field]
  if not count then
    count = {
      current = tonumber(redis.call('HGET', of.name, field) or 0), before = tonumber(redis.call('HGET', of.before, field) or 0),
    }
    count.sum = count.current + count.before * of.weight
    of.counts[field] = count
  end
  return count
end

local function add(of, field)
  local count = of.counts[field]
  if count then
    count.current, count.sum = count.current + 1, count.sum + 1
  end
  of.added[field] = (of.added[field] or 0) + 1
end

local function store(of)
  for field, number in pairs(of.added) do
    redis.call('HINCRBY', of.name, field, number)
  end
  if next(of.added) then
    redis.call('EXPIRE', of.name, of.kept)
  end
end

-- Seconds until the count plus one is not above the limit, if no further SMS is counted.
local function wait_for(of, count, limit)
  local surplus = count.sum + 1 - limit
  if limit < 1 then
    return of.length
  end
  if count.before > 0 and surplus * of.length / count.before <= of.left then
    return surplus * of.length / count.before
  end
  return of.left + math.max(0, count.current - limit + 1) / math.max(1, count.current) * of.length
end

-- Seconds to wait if one more SMS is above the ceiling; else nil.
local function over(of, count, floor, share, traffic)
  floor = tonumber(floor)
  if floor < 0 then
    return nil
  end
  local limit = math.max(floor, tonumber(share) * (traffic.sum + 1))
  if count.sum + 1 > limit then
    return math.max(1, math.ceil(wait_for(of, count, limit)))
  end
  return nil
end

local function over_address(key, limit)
  if limit < 0 or redis.call('ZCARD', key) < limit then
    return nil
  end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', oldest)
  if redis.call('ZCARD', key) < limit then
    return nil
  end
  if limit < 1 then
    return window
  end
  local leaver = redis.call('ZRANGE', key, -limit, -limit, 'WITHSCORES')
  return math.max(1, math.ceil((tonumber(leaver[2]) + window * 1000000 - now) / 1000000))
end

-- The first ceiling that one more SMS is above, and the seconds to wait; 0 if there is none.
local function refusal(key, prefix, country, producer, at)
  local wait = over_address(key, tonumber(ARGV[at]))
  if wait then
    return 2, wait
  end
  local in_country = read(countries, country)
  local of_prefix, floor, share = read(prefixes, prefix), ARGV[at + 1], ARGV[at + 2]
  if over(prefixes, of_prefix, floor, share, in_country) then
    -- The refused SMS of a prefix do not raise its own ceiling.
    local others = read(refused, country).sum - read(refused, prefix).sum
    wait = over(prefixes, of_prefix, floor, share, {sum = in_country.sum + math.max(0, others)})
    if wait then
      return 3, wait
    end
  end
  wait = over(countries, in_country, ARGV[at + 3], ARGV[at + 4], read(countries, '*'))
  if wait then
    return 4, wait
  end
  local own = producer .. ':'
  wait = over(countries, read(countries, own .. country), ARGV[at + 5], ARGV[at + 6], read(countries, own .. '*'))
  if wait then
    return 5, wait
  end
  return 0, 0
end

local answers = {}
for number = 5, #KEYS do
  local key, at = KEYS[number], 5 + (number - 5) * 11
  local member, prefix, country, producer = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local counted_at = redis.call('ZSCORE', key, member)
  if counted_at and tonumber(counted_at) > tonumber(oldest) then
    answers[#answers + 1] = {1, 0}
  else
    local by, wait = refusal(key, prefix, country, producer, at + 4)
    if by > 0 then
      add(refusals, table.concat({by, by > 3 and '' or prefix, country, producer}, '|'))
    end
    if by == 3 and refuses then
      add(refused, country)
      add(refused, prefix)
    end
    if by == 0 or not refuses then
      redis.call('ZADD', key, now_text, member)
      redis.call('EXPIRE', key, window)
      add(prefixes, prefix)
      for _, field in ipairs({country, '*', producer .. ':' .. country, producer .. ':*'}) do
        add(countries, field)
      end
      by, wait = 0, 0
    end
    answers[#answers + 1] = {by, wait}
  end
end
for _, of in ipairs({prefixes, countries, refusals, refused}) do
  store(of)
end
return answers
