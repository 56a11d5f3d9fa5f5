"""Vonage's codes: of a request's parts, and of delivery receipts.

Misconfigured stops the whole provider, so only errors that concern every message are Misconfigured:
status 15 (the country does not take the sender) and 29 (a demo account) reject a single message.

NOTIFY_VONAGE_CODES changes a line without a release. The two lists use the same numbers, so
receipts' codes are written `dlr-3`.
"""

from __future__ import annotations

from typing import Final

from providers.verdicts import Table, Verdict

TAKEN: Final = "0"

REFUSALS: Final[Table] = {
    "1": Verdict.THROTTLED,  # faster than the account's limit
    "2": Verdict.REJECTED,  # a parameter is missing
    "3": Verdict.REJECTED,  # a parameter is invalid: mostly the number
    "4": Verdict.MISCONFIGURED,  # wrong key or secret
    "5": Verdict.UNAVAILABLE,  # internal error
    "6": Verdict.REJECTED_HERE,  # invalid message: mostly an unknown prefix
    "7": Verdict.OPTED_OUT,  # the number is on Vonage's list of numbers that get no texts
    "8": Verdict.MISCONFIGURED,  # account suspended
    "9": Verdict.MISCONFIGURED,  # no credit
    "10": Verdict.THROTTLED,  # too many connections
    "11": Verdict.MISCONFIGURED,  # account not enabled for this API
    "12": Verdict.REJECTED,  # message too long
    "14": Verdict.MISCONFIGURED,  # wrong signature
    "15": Verdict.REJECTED_HERE,  # sender not allowed there
    "22": Verdict.REJECTED_HERE,  # invalid network code
    "23": Verdict.MISCONFIGURED,  # invalid callback: NOTIFY_PUBLIC_URL is wrong
    "29": Verdict.IN_SANDBOX,  # a demo account sends to listed numbers only
    "32": Verdict.MISCONFIGURED,  # signed, and with a secret
    "33": Verdict.DEAD,  # the number is deactivated
}
"""Source: https://developer.vonage.com/en/api-errors/sms"""

FAILURES: Final[Table] = {
    # Rejected, dead, opted out: the handset, its owner or its network refused the SMS.
    # Others: a fault of our account or of the route.
    "dlr-3": Verdict.DEAD,  # absent for good: "should be removed from your database"
    "dlr-4": Verdict.OPTED_OUT,  # barred by the person, who can take it back
    "dlr-9": Verdict.OPTED_OUT,  # the person asked for no more messages
    "dlr-6": Verdict.REJECTED,  # the carrier takes it for spam
    "dlr-10": Verdict.REJECTED,  # illegal message
    "dlr-11": Verdict.REJECTED,  # no route
    "dlr-12": Verdict.REJECTED,  # destination unreachable
    "dlr-13": Verdict.REJECTED,  # the person is too young for it
    "dlr-14": Verdict.REJECTED,  # blocked by the carrier
    "dlr-15": Verdict.REJECTED,  # prepaid, without funds
    "dlr-52": Verdict.REJECTED,  # filters: content
    "dlr-53": Verdict.REJECTED,  # consent
    "dlr-54": Verdict.REJECTED,  # regulation
    # The account's registration with the country's regulator
    "dlr-50": Verdict.MISCONFIGURED,  # entity id wrong or missing
    "dlr-51": Verdict.MISCONFIGURED,  # header id (sender) wrong or missing
    "dlr-1": Verdict.UNAVAILABLE,  # unknown
    "dlr-2": Verdict.UNAVAILABLE,  # absent for now
    "dlr-5": Verdict.UNAVAILABLE,  # number portability
    "dlr-7": Verdict.UNAVAILABLE,  # handset busy
    "dlr-8": Verdict.UNAVAILABLE,  # network error
    "dlr-16": Verdict.THROTTLED,  # the gateway's quota
    "dlr-99": Verdict.UNAVAILABLE,  # general error
}
"""Source: https://developer.vonage.com/messaging/sms/guides/delivery-receipts#dlr-error-codes"""
