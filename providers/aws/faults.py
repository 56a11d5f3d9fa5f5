"""What a refusal says, and what it means.

| protocol | spoken by | the code is in |
| --- | --- | --- |
| REST-JSON | SES v2 | the header `x-amzn-errortype`; the body has the message alone |
| JSON 1.0 | End User Messaging | `__type`, often with a finer `Reason` beside it |
| query | SNS | `<Code>` of an XML body |

Nobody has to say which one: each leaves the others' places empty. Sources: the protocols of Smithy
(https://smithy.io/2.0/aws/protocols/) and botocore's parsers.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import orjson

from providers import http_outcomes, verdicts
from providers.contract import Outcome
from providers.transport import Response
from providers.verdicts import Verdict

ERROR_TYPE: Final = "x-amzn-errortype"

COMMON: Final[verdicts.Table] = {
    # "Common Error Types" of each service's API reference. Of several spellings of one error, each
    # service uses its own.
    **dict.fromkeys(
        (
            "AccessDenied",
            "AccessDeniedException",
            "ExpiredToken",
            "ExpiredTokenException",
            "IncompleteSignature",
            "IncompleteSignatureException",
            "InvalidAction",
            "InvalidClientTokenId",
            "InvalidQueryParameter",
            "InvalidSignatureException",
            "MalformedHttpRequestException",
            "MalformedQueryString",
            "MissingAction",
            "MissingAuthenticationToken",
            "MissingAuthenticationTokenException",
            "NotAuthorized",
            "OptInRequired",
            "RequestExpired",  # our clock is off by 15 minutes
            "SignatureDoesNotMatch",
            "UnknownOperationException",
            "UnrecognizedClientException",
        ),
        Verdict.MISCONFIGURED,
    ),
    "InternalFailure": Verdict.UNAVAILABLE,
    "InvalidParameterCombination": Verdict.REJECTED,
    "InvalidParameterValue": Verdict.REJECTED,
    "MissingParameter": Verdict.REJECTED,
    "RequestAbortedException": Verdict.UNANSWERED,  # "aborted before a reply was sent back"
    "RequestEntityTooLargeException": Verdict.REJECTED,
    "RequestTimeoutException": Verdict.UNAVAILABLE,  # it gave up on reading us
    "ServiceUnavailable": Verdict.UNAVAILABLE,
    "Throttling": Verdict.THROTTLED,
    "ThrottlingException": Verdict.THROTTLED,
    "ValidationError": Verdict.REJECTED,
}

_CODE: Final = re.compile(r"<Code>([^<]*)</Code>")
_MESSAGE: Final = re.compile(r"<Message>([^<]*)</Message>")
_ADDRESS: Final = re.compile(r"[^\s<>]*@[^\s<>]+|\+?[0-9]{7,}")
"""A mailbox or a number. Account ids go with it, which hides nothing that anybody misses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A refusal, in its own words."""

    code: str = ""
    reason: str = ""
    """Finer than the code, where the service has one."""
    message: str = ""


Rename = Callable[[Fault], str]
"""Gives a code of our own for what only the message tells apart; empty: none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A vendor's table, ready to be asked."""

    table: verdicts.Table
    overrides: verdicts.Table
    waits: Mapping[str, timedelta] = field(default_factory=dict)
    """The least wait after a code, where it is known to be long."""
    rename: Rename = lambda _fault: ""

    def refusal(self, response: Response) -> Outcome:
        """Judge an answer that is no success; the HTTP status decides what the table leaves."""
        fault = parse(response)
        found = self.outcome(fault, retry_after=response.retry_after)
        if found is not None:
            return found
        detail = redact(fault.message)
        return http_outcomes.of_status(response, code=fault.code, detail=detail)

    def outcome(self, fault: Fault, *, retry_after: timedelta | None = None) -> Outcome | None:
        """Return the outcome of the most specific known name; None if every name is unknown."""
        for code in (self.rename(fault), fault.reason, fault.code):
            verdict = verdicts.look_up(code, self.table, self.overrides)
            if verdict is not None:
                wait = max(filter(None, (retry_after, self.waits.get(code))), default=None)
                detail = redact(fault.message)
                return verdicts.outcome(verdict, code=code, detail=detail, retry_after=wait)
        return None


def parse(response: Response) -> Fault:
    """Read a refusal; what is not there stays empty."""
    text = response.body.decode(errors="replace")
    fields = _json_object(text)
    code = response.header or _first(fields, "__type", "code", "Code") or _match(_CODE, text)
    return Fault(
        # `com.amazonaws.sesv2#MessageRejected:http://internal.amazon.com/` is one way to write it
        code=code.partition(":")[0].rpartition("#")[2],
        reason=_first(fields, "Reason"),
        message=_first(fields, "message", "Message") or _match(_MESSAGE, text),
    )


def redact(message: str) -> str:
    """Give a vendor's message on one line, without the addresses that it may repeat."""
    return " ".join(_ADDRESS.sub("[address]", message).split())[: http_outcomes.DETAIL_LIMIT]


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = orjson.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _first(fields: Mapping[str, Any], *names: str) -> str:
    return next((str(fields[name]) for name in names if fields.get(name)), "")


def _match(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return html.unescape(found[1]) if found else ""
