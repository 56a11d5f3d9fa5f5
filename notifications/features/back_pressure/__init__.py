"""Back-pressure: P3 posts are refused, and stale P3 dropped, while their lane is far behind.

    refusals    refuses posts to a lane that is behind; keeps the lanes in a cache
    stale       drops deliveries that wait too long
    sweep       begins and ends both, by the lag and the limits
    rules       when to refuse and to drop, and Retry-After

The core measures the lag, and raises the alerts about workers.
"""
