"""Feedback: what providers and recipients report after a delivery.

    delivery_receipts    receipts of providers move `sent` to `delivered` or `failed`
    inbound_sms          texts to our number: STOP, START and HELP
    unsubscribe          the effects of the unsubscribe link

Reports arrive late, twice, or in another order; each module states why a repeat changes nothing.
"""
