"""Feedback: reports of providers and recipients after a delivery.

    delivery_receipts    moves deliveries by receipts: `sent` to `delivered` or `failed`
    client_receipts      moves deliveries by reports of the recipient's own app
    client_tokens        lets the app of one recipient send these reports
    tracked_visits       records opens and clicks of e-mails and SMS as client receipts
    inbound_sms          handles texts to our number: STOP, START and HELP
    unsubscribe          applies the choices of the unsubscribe page
    preference_matrix    the choices of a recipient by topic and channel
    preference_changes   applies the choices of the preference page and of the API

Reports arrive late, twice, or out of order; each module states why a repeat is harmless.
"""
