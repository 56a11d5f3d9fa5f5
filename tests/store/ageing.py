"""Letting time pass: Redis has no clock to turn, so what it keeps is made older."""

from __future__ import annotations

import datetime as dt

import redis

from notifications.core.store.redis import state

_SCRIPT = """
local milliseconds = tonumber(ARGV[1])
local instants = {
    'open_since', 'probe_at', 'probing', 'urgent_at', 'look_at', 'accepted_at', 'doubt', 'at',
}
local function aged(pattern)
    for _, key in ipairs(redis.call('KEYS', pattern)) do
        local it = cjson.decode(redis.call('GET', key))
        for _, name in ipairs(instants) do
            if it[name] then it[name] = it[name] - milliseconds end
        end
        if it.quiet then it.quiet[1] = it.quiet[1] - milliseconds end
        for _, entry in ipairs(it.streak or {}) do entry[1] = entry[1] - milliseconds end
        for _, entry in ipairs(it.out or {}) do
            entry[1] = entry[1] - math.floor(milliseconds / 10000)
        end
        for _, entry in ipairs(it.window or {}) do
            entry[1] = entry[1] - math.floor(milliseconds / 30000)
        end
        redis.call('SET', key, cjson.encode(it), 'KEEPTTL')
    end
end
for _, key in ipairs(redis.call('KEYS', 'bucket:*')) do
    for _, name in ipairs({'paid', 'own', 'last'}) do
        local instant = tonumber(redis.call('HGET', key, name)) - milliseconds * 1000
        redis.call('HSET', key, name, string.format('%.0f', instant))
    end
end
aged('breaker:*')
aged('pace:*')"""

_CAPS = """
for _, key in ipairs(redis.call('KEYS', 'cap:*')) do
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
        redis.call('ZINCRBY', key, '-' .. ARGV[1], member)
    end
end"""


def age(span: dt.timedelta, client: redis.Redis | None = None) -> None:
    """Every breaker and bucket in Redis (the tests' own, or `client`'s) is as it would be then."""
    (client or state.client()).eval(_SCRIPT, 0, str(span // dt.timedelta(milliseconds=1)))


def age_caps(span: dt.timedelta, client: redis.Redis | None = None) -> None:
    """What counts against caps, in the same Redis, was counted so much earlier."""
    (client or state.client()).eval(_CAPS, 0, str(span // dt.timedelta(microseconds=1)))
