"""Error answers of AWS services, and their outcomes.

| protocol | spoken by | the code is in |
| --- | --- | --- |
| REST-JSON | SES v2 | the header `x-amzn-errortype`; the body has the message alone |
| JSON 1.0 | End User Messaging | `__type`, often with a finer `Reason` |
| query | SNS | `<Code>` of an XML body |

The caller does not name the protocol: a service of one protocol leaves the places of the other two
empty. Sources: the protocols of Smithy
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

from providers import graphemes, http_outcomes, verdicts
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
            "RequestExpired",  # the local clock is off by 15 minutes
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
    "RequestTimeoutException": Verdict.UNAVAILABLE,  # the service stopped reading the request
    "ServiceUnavailable": Verdict.UNAVAILABLE,
    "Throttling": Verdict.THROTTLED,
    "ThrottlingException": Verdict.THROTTLED,
    "ValidationError": Verdict.REJECTED,
}

_CODE: Final = re.compile(r"<Code>([^<]*)</Code>")
_MESSAGE: Final = re.compile(r"<Message>([^<]*)</Message>")
_ADDRESS: Final = re.compile(r"[^\s<>]*@[^\s<>]+|\+?[0-9]{7,}")
"""A mailbox or a number. The pattern hides account ids as well; account ids are not needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An error answer, as the service wrote the fields."""

    code: str = ""
    reason: str = ""
    """A reason finer than the code, if the service gives a reason."""
    message: str = ""


Rename = Callable[[Fault], str]
"""Returns a local code for errors that differ in the message only; empty: no such code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A vendor's table of codes, with the operator's changes."""

    table: verdicts.Table
    overrides: verdicts.Table
    waits: Mapping[str, timedelta] = field(default_factory=dict)
    """Least wait after a code with a known long wait."""
    rename: Rename = lambda _fault: ""

    def refusal(self, response: Response) -> Outcome:
        """Judge an error answer; the HTTP status decides for codes outside the table."""
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
    """Read an error answer; absent fields stay empty."""
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
    """Return a vendor's message on one line, with addresses hidden."""
    shown = " ".join(_ADDRESS.sub("[address]", message).split())
    return graphemes.cut(shown, http_outcomes.DETAIL_LIMIT)


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
