"""Twilio's error codes that a message can cause.

Misconfigured stops the whole provider, so only errors that concern every message are Misconfigured.
A code that depends on the destination (21408: the country is not enabled) rejects a single message,
and the next provider is asked; otherwise one number in a forbidden country would stop all messages.

Sources: https://www.twilio.com/docs/api/errors, one page a code. Twilio splits and renumbers codes
(Twilio's changelog of 2024-07-10): NOTIFY_TWILIO_CODES changes a line without a release.
"""

from __future__ import annotations

from typing import Final

from providers.verdicts import Table, Verdict

REFUSALS: Final[Table] = {
    # Login and account
    "20003": Verdict.MISCONFIGURED,  # authentication failed
    "20005": Verdict.MISCONFIGURED,  # account not active
    "20403": Verdict.MISCONFIGURED,  # the key lacks the permission
    "20404": Verdict.MISCONFIGURED,  # no such account: the address names nothing else
    "21609": Verdict.MISCONFIGURED,  # StatusCallback is an invalid URL: NOTIFY_PUBLIC_URL is wrong
    # Sender
    "21212": Verdict.MISCONFIGURED,  # invalid From
    "21601": Verdict.MISCONFIGURED,  # the account does not own the From number
    "21606": Verdict.MISCONFIGURED,  # From cannot send messages
    "21659": Verdict.MISCONFIGURED,  # From is not a Twilio number
    "21660": Verdict.MISCONFIGURED,  # From belongs to another account
    "21661": Verdict.MISCONFIGURED,  # From cannot send SMS
    "21701": Verdict.MISCONFIGURED,  # no such messaging service
    "21703": Verdict.MISCONFIGURED,  # the messaging service has no sender
    "21705": Verdict.MISCONFIGURED,  # MessagingServiceSid is malformed
    # Destination
    "21211": Verdict.DEAD,  # To is an invalid phone number
    "21217": Verdict.DEAD,  # To is an invalid phone number
    "21265": Verdict.DEAD,  # To is a short code
    "21614": Verdict.DEAD,  # To is a landline number
    "21635": Verdict.DEAD,  # To is a landline
    "21610": Verdict.OPTED_OUT,  # the recipient answered STOP; START, UNSTOP or YES ends it
    "21214": Verdict.REJECTED_HERE,  # To cannot be reached
    "21266": Verdict.REJECTED,  # To and From are the same
    "21408": Verdict.REJECTED_HERE,  # the region is not enabled in the account
    "21608": Verdict.IN_SANDBOX,  # a trial account sends to verified numbers only
    "21612": Verdict.REJECTED_HERE,  # no route from From to To
    # Content
    "21602": Verdict.REJECTED,  # no body
    "21605": Verdict.REJECTED,  # body over 160 characters, where the account has that limit
    "21617": Verdict.REJECTED,  # body over 1600 characters
    # WhatsApp
    "63003": Verdict.DEAD,  # To is not on WhatsApp
    "63007": Verdict.MISCONFIGURED,  # the account has no such sender on WhatsApp
    "63013": Verdict.REJECTED,  # against a policy of WhatsApp
    "63015": Verdict.IN_SANDBOX,  # Twilio's sandbox sends to persons who joined it
    "63016": Verdict.REJECTED_HERE,  # over 24 hours since the person's last message: no free text
    "63018": Verdict.THROTTLED,  # too fast for the sender
    "63024": Verdict.DEAD,  # To is no recipient on WhatsApp
    "63027": Verdict.TEMPLATE_REFUSED,  # no such template in this language
    "63028": Verdict.TEMPLATE_REFUSED,  # the number of parameters is wrong
    "63032": Verdict.REJECTED_HERE,  # the number is part of an experiment of Meta
    "63049": Verdict.REJECTED,  # Meta withheld marketing
    # Rate and time
    "14107": Verdict.THROTTLED,  # too fast
    "20429": Verdict.THROTTLED,  # too many requests
    "21611": Verdict.THROTTLED,  # From's queue is full: hours of messages are in it
    "21730": Verdict.UNAVAILABLE,  # maintenance
    # Perhaps sent: "it is possible for a customer to receive multiple messages" after a repeat
    "20500": Verdict.UNANSWERED,
    "500": Verdict.UNANSWERED,  # the HTTP status, of an answer with no code or an unknown one
}
"""Codes in the answer to the request."""

FAILURES: Final[Table] = {
    # Rejected, dead: the handset or its network refused the SMS.
    # Others: a fault of our account or of the route.
    "30004": Verdict.REJECTED,  # blocked by the carrier or the person
    "30005": Verdict.DEAD,  # unknown handset
    "30006": Verdict.DEAD,  # landline
    "30007": Verdict.REJECTED,  # filtered for its content
    "30001": Verdict.THROTTLED,  # queue overflow
    "30002": Verdict.MISCONFIGURED,  # account suspended
    "30003": Verdict.UNAVAILABLE,  # handset unreachable: switched off, roaming
    "30008": Verdict.UNAVAILABLE,  # unknown
    "30022": Verdict.THROTTLED,  # a US carrier's rate for the brand
    "30023": Verdict.THROTTLED,  # a US carrier's daily limit for the brand
    "30034": Verdict.MISCONFIGURED,  # US number without a registered campaign
    "30036": Verdict.UNAVAILABLE,  # waited in the queue for longer than ValidityPeriod
    "30410": Verdict.UNAVAILABLE,  # the carrier did not answer in time
}
"""Codes in a status callback of an accepted message."""
