"""Feedback: reports of providers and recipients after a delivery.

    delivery_receipts    moves deliveries by receipts: `sent` to `delivered` or `failed`
    receipt_groups       lets concurrent receipts share a transaction (receipt_spans: the traces)
    failed_calls         finds the provider call that a failure receipt is about
    fallback_receipts    opens or stops the next channels of a fallback chain
    client_receipts      moves deliveries by reports of the recipient's own app
    client_tokens        lets the app of one recipient send these reports
    tracked_visits       records opens and clicks of e-mails and SMS as client receipts
    inbound_sms          handles texts to our number: STOP, START and HELP
    vendor_removals      ends entries of addresses that a vendor removed from its suppression list
    unsubscribe          applies the choices of the unsubscribe page
    preference_matrix    the choices of a recipient by topic and channel
    preference_changes   applies the choices of the preference page and of the API

Reports arrive late, twice, or out of order; each module states why a repeat is harmless.
"""
