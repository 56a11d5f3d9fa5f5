"""Rate limits: everything that slows, holds or refuses, in the state Redis.

    circuit_breakers    a provider or endpoint that fails is paused
    breaker_status      the breakers as admin, `/readyz`, `/metrics` and the relay read them
    send_admission      breaker and send slot for each delivery of a batch, in one call
    frequency_caps      notifications of one recipient, channel and hour or day
    producer_limits     writes of one producer
    address_limits      requests of one address without a key

`rules.rate_limits` has the decisions.
"""
