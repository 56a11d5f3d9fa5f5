"""Destinations of alerts: a URL and a notice become a call to Slack, PagerDuty, mail or a webhook.

    URL -> destination: kind and address
    notice -> texts, sender -> transport, chat services or the e-mail provider -> Outcome

The calls use no lane, no template and no recipient, so that a notice leaves while the delivery of
messages is ill. Addresses of webhooks and chat services are guarded as those of recipients are.
"""
