"""Error codes of WhatsApp's Cloud API: of the answer to a request, and of a status `failed`.

Misconfigured stops the whole provider, so only errors that concern every message are Misconfigured:
a missing template or a country in which the account may not write rejects a single message.

Source: https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes. "Build your
error-handling logic around the code": the HTTP status decides for an unknown code alone.
NOTIFY_WHATSAPP_CODES changes a line without a release.
"""

from __future__ import annotations

from typing import Final

from providers.verdicts import Table, Verdict

TABLE: Final[Table] = {
    # Access token and account
    "0": Verdict.MISCONFIGURED,  # the app user cannot be authenticated
    "3": Verdict.MISCONFIGURED,  # the app lacks a capability
    "10": Verdict.MISCONFIGURED,  # permission not granted, or removed
    "33": Verdict.MISCONFIGURED,  # the business number was deleted
    "190": Verdict.MISCONFIGURED,  # the access token has expired
    "200": Verdict.MISCONFIGURED,  # permission not granted, or removed
    "368": Verdict.MISCONFIGURED,  # blocked for violations of a policy
    "131005": Verdict.MISCONFIGURED,  # permission not granted, or removed
    "131031": Verdict.MISCONFIGURED,  # the account is locked
    "131042": Verdict.MISCONFIGURED,  # the payment method fails
    "131045": Verdict.MISCONFIGURED,  # the business number is not registered
    "133010": Verdict.MISCONFIGURED,  # the business number is not registered
    # Recipient
    "131021": Verdict.REJECTED,  # the recipient is the sender
    "131026": Verdict.REJECTED_HERE,  # undeliverable: no WhatsApp, an old version, other causes
    "131030": Verdict.IN_SANDBOX,  # a test number sends to listed numbers only
    "131047": Verdict.REJECTED_HERE,  # over 24 hours since the person's last message: no free text
    "131049": Verdict.REJECTED,  # marketing withheld: the person gets many such messages
    "131050": Verdict.REJECTED,  # the person wants no marketing from this business
    "130472": Verdict.REJECTED_HERE,  # the number is part of an experiment of Meta
    "130497": Verdict.REJECTED_HERE,  # the account may not write to this country
    # Content
    "100": Verdict.REJECTED,  # a parameter is unknown or misspelled
    "131008": Verdict.REJECTED,  # a parameter is missing
    "131009": Verdict.REJECTED,  # a value of a parameter is invalid
    "131051": Verdict.REJECTED,  # unknown type of message
    # Template
    "132000": Verdict.TEMPLATE_REFUSED,  # the number of parameters is wrong
    "132001": Verdict.TEMPLATE_REFUSED,  # no such template in this language, or not approved
    "132005": Verdict.TEMPLATE_REFUSED,  # the text is too long with the parameters
    "132007": Verdict.TEMPLATE_REFUSED,  # the text violates a policy
    "132012": Verdict.TEMPLATE_REFUSED,  # a parameter has the wrong format
    "132015": Verdict.TEMPLATE_REFUSED,  # paused for low quality
    "132016": Verdict.TEMPLATE_REFUSED,  # disabled for low quality
    # Rate
    "4": Verdict.THROTTLED,  # calls of the app
    "80007": Verdict.THROTTLED,  # calls for the account
    "130429": Verdict.THROTTLED,  # messages of the business number
    "131048": Verdict.THROTTLED,  # the business number has a lower limit after reports of spam
    "131056": Verdict.THROTTLED,  # messages to one recipient
    # Meta's servers
    "1": Verdict.UNAVAILABLE,
    "2": Verdict.UNAVAILABLE,
    "131000": Verdict.UNAVAILABLE,
    "131016": Verdict.UNAVAILABLE,
    "131057": Verdict.UNAVAILABLE,  # maintenance of the account
    "133004": Verdict.UNAVAILABLE,
}
