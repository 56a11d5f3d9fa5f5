"""Rate limits, decided without I/O.

circuit_breaker    when a provider is paused, and how probes end the pause
token_bucket       how priorities share the rate that a vendor allows
frequency_caps     how many notifications a recipient gets in an hour or a day
concurrency        how many calls are in flight at one provider
"""
