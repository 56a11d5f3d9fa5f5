"""Feedback: reports of providers and recipients after a delivery.

    delivery_receipts    moves deliveries by receipts: `sent` to `delivered` or `failed`, if the
                         failure is of the last call; ends suppressions that a vendor removed
    receipt_groups       lets concurrent receipts share a transaction
    fallback_receipts    opens or stops the next channels of a fallback chain, and the traces
    client_receipts      moves deliveries by reports of the recipient's own app, and by visits of
                         tracked links of e-mails and SMS
    inbound_sms          handles texts to our number: STOP, START and HELP
    unsubscribe          applies the choices of the unsubscribe page
    preference_matrix    the choices of a recipient by topic and channel
    preference_changes   applies the choices of the preference page and of the API

Reports arrive late, twice, or out of order; each module states why a repeat is harmless.
"""
