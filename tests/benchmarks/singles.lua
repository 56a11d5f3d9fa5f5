-- Requests of wrk: a notification each, with an idempotency key and variables of its own.
-- Arguments: a prefix of the keys, the number of recipients, the type, the template.
-- The last line of the output is JSON: requests, refused, failed, seconds, p50_ms, p99_ms.

local prefix, people, kind, template
local number = 0

function init(arguments)
   prefix, people, kind, template = arguments[1], tonumber(arguments[2]), arguments[3], arguments[4]
end

function request()
   number = number + 1
   return wrk.format("POST", nil, nil, string.format(
      '{"user_id":"user-%d","type":"%s","priority":"P2","template_id":"%s",'
         .. '"variables":{"name":"Ada %d","order_id":"ORD-%d","items":["a","b"]},'
         .. '"channels":["email"],"idempotency_key":"%s-%d"}',
      number % people, kind, template, number, number, prefix, number
   ))
end

function done(summary, latency)
   local errors = summary.errors
   print(string.format(
      '{"requests":%d,"refused":%d,"failed":%d,"seconds":%f,"p50_ms":%f,"p99_ms":%f}',
      summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
      summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3
   ))
end
