"""Times: local times as instants, and decisions by local time.

    local_time    what a clock on a wall says, as an instant; when it says so next
    quiet_hours   when a person wants no message, and when the next may come
    deferral      whether a message waits for its person, why, and until when
    digest_times  when a recipient gets the digest of a topic
    durations     a time span in words
    time_range    the time range of a monitoring page
    stages        the seconds from accept to each stage of a delivery
    claims        the claims of a timeline, which store no event

Zones are names of the tz database; instants go out in UTC.
"""
