"""Rate limits in the state Redis.

    circuit_breakers    pauses a provider or endpoint that fails
    bounce_doubts       which of a provider's reports of dead addresses are believed
    refusal_counts      which of many refusals of a sender, template or sandbox are believed
    breaker_status      breaker status for admin, `/readyz`, `/metrics` and the relay
    send_admission      breaker check and send slot for each delivery of a batch, in one call
    frequency_caps      notifications per recipient, channel and hour or day
    producer_limits     writes per producer
    address_limits      requests without a key, per client address

`rules.rate_limits` has the decisions.
"""
