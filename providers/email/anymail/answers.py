"""Translates a service's response into an Outcome by a table of codes.

| key | meaning |
| --- | --- |
| `402` | an HTTP status, of any service |
| `rejected` | anymail's status of the recipient in a success |
| `postmark:406` | a service and the service's code, in the body of any response; has precedence |

`providers.http_outcomes` judges a response without a row. NOTIFY_ANYMAIL_CODES overrides and adds
rows in the same words. Sources: the API reference of each service as of 2026, and anymail's
documentation for the recipient statuses ("normalized recipient status").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from providers import http_outcomes, verdicts
from providers.contract import Accepted, Outcome
from providers.email.anymail.services import SERVICES, code_in
from providers.transport import Reply, Response
from providers.verdicts import Verdict

TABLE: Final[verdicts.Table] = {
    # Any service: no address is in the URL, so the status concerns the account or the settings.
    "402": Verdict.MISCONFIGURED,  # out of credit
    "404": Verdict.MISCONFIGURED,  # no such API, or (Mailgun) no such sender domain
    "405": Verdict.MISCONFIGURED,
    "420": Verdict.THROTTLED,  # SparkPost's "exceeded sending limit"
    # anymail's recipient statuses
    "invalid": Verdict.REJECTED,
    "rejected": Verdict.REJECTED,  # only a service's own code says that the address is dead
    "failed": Verdict.REJECTED,
    # Postmark, "API error codes"; most come with HTTP 422
    "postmark:10": Verdict.MISCONFIGURED,  # bad or missing API token
    "postmark:100": Verdict.UNAVAILABLE,  # maintenance
    "postmark:300": Verdict.REJECTED,  # invalid e-mail request
    "postmark:400": Verdict.SENDER_REFUSED,  # sender signature not found
    "postmark:401": Verdict.SENDER_REFUSED,  # sender signature not confirmed
    "postmark:405": Verdict.MISCONFIGURED,  # not allowed to send: out of credit
    # Inactive recipient: a hard bounce, a complaint or an unsubscription; the callback tells which.
    "postmark:406": Verdict.REJECTED,
    "postmark:412": Verdict.MISCONFIGURED,  # account is pending
    "postmark:413": Verdict.MISCONFIGURED,  # account may not send
    "postmark:429": Verdict.THROTTLED,
    # Mandrill, "Messages API: errors"; all come with HTTP 500
    "mandrill:Invalid_Key": Verdict.MISCONFIGURED,
    "mandrill:PaymentRequired": Verdict.MISCONFIGURED,
    "mandrill:PoorReputation": Verdict.MISCONFIGURED,
    "mandrill:Unknown_Subaccount": Verdict.MISCONFIGURED,
    "mandrill:ValidationError": Verdict.REJECTED,
    "mandrill:ServiceUnavailable": Verdict.UNAVAILABLE,
    "mandrill:GeneralError": Verdict.UNAVAILABLE,
    # Mandrill, `reject_reason` of a success
    "mandrill:hard-bounce": Verdict.DEAD,
    "mandrill:spam": Verdict.DEAD,
    "mandrill:unsub": Verdict.OPTED_OUT,
    "mandrill:invalid": Verdict.DEAD,
    "mandrill:soft-bounce": Verdict.REJECTED,
    "mandrill:rule": Verdict.REJECTED,
    "mandrill:custom": Verdict.REJECTED,
    "mandrill:invalid-sender": Verdict.SENDER_REFUSED,
    "mandrill:test-mode-limit": Verdict.MISCONFIGURED,
    "mandrill:unsigned": Verdict.SENDER_REFUSED,
    # Resend, "Errors"
    "resend:invalid_from_address": Verdict.SENDER_REFUSED,
    "resend:invalid_access": Verdict.MISCONFIGURED,
    "resend:daily_quota_exceeded": Verdict.THROTTLED,
    "resend:monthly_quota_exceeded": Verdict.MISCONFIGURED,  # the quota lasts longer than retries
    "resend:rate_limit_exceeded": Verdict.THROTTLED,
    # Brevo, "How it works: errors"; most come with HTTP 400
    "brevo:not_enough_credits": Verdict.MISCONFIGURED,
    "brevo:unauthorized": Verdict.MISCONFIGURED,
    "brevo:permission_denied": Verdict.MISCONFIGURED,
    "brevo:account_under_validation": Verdict.MISCONFIGURED,
    "brevo:invalid_parameter": Verdict.REJECTED,
    "brevo:missing_parameter": Verdict.REJECTED,
    # Postal, "API errors"; all come with HTTP 200
    "postal:InvalidServerAPIKey": Verdict.MISCONFIGURED,
    "postal:AccessDenied": Verdict.MISCONFIGURED,
    "postal:ServerSuspended": Verdict.MISCONFIGURED,
    "postal:UnauthenticatedFromAddress": Verdict.SENDER_REFUSED,
    "postal:FromAddressMissing": Verdict.MISCONFIGURED,
    "postal:NoRecipients": Verdict.REJECTED,
    "postal:NoContent": Verdict.REJECTED,
    # SparkPost, "Errors"
    "sparkpost:7001": Verdict.SENDER_REFUSED,  # unconfigured sending domain
    # Mailjet, errors of the Send API v3.1
    "mailjet:send-0008": Verdict.SENDER_REFUSED,  # sender not authorised
    "mailjet:mj-0013": Verdict.REJECTED,  # not an e-mail address
    # Told apart by the words alone, see SENDER_WORDS
    "brevo:unverified_sender": Verdict.SENDER_REFUSED,
    "mailgun:unverified_sender": Verdict.SENDER_REFUSED,
    "resend:unverified_sender": Verdict.SENDER_REFUSED,
    "sendgrid:unverified_sender": Verdict.SENDER_REFUSED,
}

SENDER_WORDS: Final[Mapping[str, re.Pattern[bytes]]] = {
    "brevo": re.compile(rb"the sender you used .{0,200}? is not valid", re.DOTALL),
    # anymail sends by the domain of the From, unless `sender_domain` is set
    "mailgun": re.compile(rb"Domain not found|is not allowed to send: The domain is unverified"),
    "resend": re.compile(rb"domain is not verified"),
    "sendgrid": re.compile(rb"does not match a verified Sender Identity"),
}
"""Words of a refusal for the sender, which has no code of its own."""

_ADDRESS: Final = re.compile(r"""[^\s"'<>,;:()\[\]]+@[^\s"'<>,;:()\[\]\\]+""")
"""Services repeat addresses in lower case, or with characters escaped as in JSON."""


def hide_addresses(text: str) -> str:
    """Replace each part of `text` with the shape of an e-mail address."""
    return _ADDRESS.sub("[address]", text)


def outcome_of(
    reply: Reply,
    *,
    service: str,
    codes: verdicts.Table,
    read: Callable[[Response], Outcome],
) -> Outcome:
    """Return the outcome of a reply; `read` judges a success without a known code."""
    if isinstance(reply, Response):
        code = _code_of(reply, service)
        masked = replace(reply, body=hide_addresses(reply.body.decode(errors="replace")).encode())
        for key in (f"{service}:{code}", str(reply.status)):
            verdict = verdicts.look_up(key, TABLE, codes)
            if verdict is not None:
                return verdicts.outcome(
                    verdict,
                    code=key,
                    detail=http_outcomes.excerpt(masked.body, hide=""),
                    retry_after=reply.retry_after,
                )
        return http_outcomes.outcome_of(masked, accepted=lambda _: read(reply), hide="")
    return http_outcomes.outcome_of(reply, accepted=read, hide="")


def _code_of(reply: Response, service: str) -> str:
    words = SENDER_WORDS.get(service)
    if words is not None and not reply.is_success and words.search(reply.body):
        return "unverified_sender"
    return code_in(reply.body, SERVICES[service])


def outcome_of_status(status: str, *, message_id: str, codes: verdicts.Table) -> Outcome:
    """Return the outcome of a recipient's status in a success: `sent`, `queued`, `rejected` ..."""
    verdict = verdicts.look_up(status, TABLE, codes)
    if verdict is None:  # sent, queued, and unknown: the service has accepted the message
        return Accepted(message_id=message_id)
    return verdicts.outcome(verdict, code=status, detail="")
