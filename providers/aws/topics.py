"""Posts of SNS: a post is opened only if SNS signed the post for a configured topic.

    Notification              its Message, for the vendor to read
    SubscriptionConfirmation  confirmed by a GET of the post's URL; contains no message
    UnsubscribeConfirmation   contains no message: the unsubscription is accepted

The checks run in order: the topic is in the list, the certificate's URL is on a host of SNS, the
certificate came from SNS over TLS, the certificate's key signed the post. No other field is trusted
before all checks pass. Any AWS account may own a topic, and SNS signs for all topics: without the
list, posts of foreign topics would be read too. A repeated post is opened again, for two hours from
the post's Timestamp; the reader of receipts recognises repeats.

An attacker with the name of a topic can name certificates that do not exist. So a certificate is
fetched only for a current post, one certificate at a time, and a URL without a certificate is not
fetched again for a while.

Source: https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import orjson

from providers import clock
from providers.contract import ReceiptRequest
from providers.errors import CannotVerify, InvalidSignature, MalformedReceipt
from providers.transport import Failure, Request, Response, Transport

if TYPE_CHECKING:
    from providers.aws.certificates import Certificate

FETCH_DEADLINE: Final = timedelta(seconds=5)
"""Timeout of a certificate or a confirmation: SNS waits 15 s for the answer to a post."""

TOLERANCE: Final = timedelta(hours=2)
"""Largest difference of a Timestamp from now: SNS retries a post for an hour at most."""
SNS_HEADERS: Final = frozenset({"x-amz-sns-message-type"})
"""Header in lower case; each post of SNS has the header
(https://docs.aws.amazon.com/sns/latest/dg/http-header.html)."""
_MOST_CERTIFICATES: Final = 16
"""Number of cached certificates: SNS signs with one certificate in each region, and changes the
certificate about once a year."""
_MISSED_FOR: Final = timedelta(minutes=1)
_HOST: Final = r"https://sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/"
_CERTIFICATE_URL: Final = re.compile(_HOST + r"SimpleNotificationService-[0-9a-f]+\.pem")
_CONFIRM_URL: Final = re.compile(_HOST + r"\?[!-~]+")

_SHA1: Final = "1"
"""A SignatureVersion."""
_NOTIFICATION: Final = "Notification"
_SUBSCRIPTION: Final = "SubscriptionConfirmation"
_SIGNED: Final[Mapping[str, tuple[str, ...]]] = {
    _NOTIFICATION: ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    **dict.fromkeys(
        (_SUBSCRIPTION, "UnsubscribeConfirmation"),
        ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    ),
}
"""Signed fields, in order; an absent field (a Subject) is left out."""


class Topics:
    """Opens the posts of a vendor's topics. Thread-safe."""

    def __init__(
        self,
        arns: frozenset[str],
        *,
        transport: Transport,
        allow_sha1: bool = False,
        now: clock.Clock = clock.now,
    ) -> None:
        """Fetch no certificate before the first post.

        Args:
            arns: the topics whose posts are opened.
            transport: fetches certificates and confirms subscriptions.
            allow_sha1: True to take SignatureVersion 1, the default of a topic until the
                owner sets 2.
            now: the clock.
        """
        self._allow_sha1 = allow_sha1
        self._arns = arns
        self._transport = transport
        self._now = now
        self._certificates: dict[str, Certificate] = {}
        self._missed_at: dict[str, datetime] = {}
        self._fetching = threading.Lock()

    def open(self, request: ReceiptRequest) -> str | None:
        """Verify a post and return the message; None for a post without a message.

        Raises:
            InvalidSignature: SNS did not sign the post, or the topic is not in the list.
            CannotVerify: the certificate is unavailable now, or the confirmation failed.
            MalformedReceipt: a confirmation leads to another host.
        """
        post = _fields(request.body)
        kind = post.get("Type", "")
        if kind not in _SIGNED or post.get("TopicArn") not in self._arns:
            raise InvalidSignature("not from a topic of ours (is raw message delivery on?)")
        self._verify(post, names=_SIGNED[kind])
        if kind == _SUBSCRIPTION:
            self._confirm(post["SubscribeURL"])
        return post["Message"] if kind == _NOTIFICATION else None

    def _verify(self, post: Mapping[str, str], *, names: tuple[str, ...]) -> None:
        """Check SNS's signature of the fields of a post.

        Raises:
            InvalidSignature: SNS did not sign the fields.
            CannotVerify: the certificate is unavailable now.
        """
        if not _is_near(post.get("Timestamp", ""), self._now()):
            raise InvalidSignature("the Timestamp is too far from our clock")
        if post.get("SignatureVersion") == _SHA1 and not self._allow_sha1:
            raise InvalidSignature("SignatureVersion 1 is SHA-1: set 2 at the topic, or ALLOW_SHA1")
        url = post.get("SigningCertURL", "")
        if _CERTIFICATE_URL.fullmatch(url) is None:
            raise InvalidSignature("the certificate is not on a host of SNS")
        signed = "".join(f"{name}\n{post[name]}\n" for name in names if name in post)
        self._certificate(url).verify(
            signed.encode(),
            signature=post.get("Signature", ""),
            version=post.get("SignatureVersion", ""),
            at=self._now(),
        )

    def _certificate(self, url: str) -> Certificate:
        """Return the certificate of a URL, fetched at the first use.

        Raises:
            InvalidSignature: the URL has no certificate.
            CannotVerify: the certificate is unavailable now.
        """
        certificate = self._certificates.get(url)
        if certificate is not None:
            return certificate
        if not self._fetching.acquire(blocking=False):
            raise CannotVerify("another certificate of SNS is being fetched")
        try:
            return self._fetch_certificate(url)
        finally:
            self._fetching.release()

    def _fetch_certificate(self, url: str) -> Certificate:
        from providers.aws.certificates import Certificate  # noqa: PLC0415 - see its docstring

        now = self._now()
        missed = {each: at for each, at in self._missed_at.items() if now - at < _MISSED_FOR}
        if url in missed:
            raise InvalidSignature("the URL of the certificate has no certificate")
        reply = self._fetch(url)
        try:
            certificate = Certificate.parse(reply.body)
        except InvalidSignature:
            newest = list(missed.items())[1 - _MOST_CERTIFICATES :]
            self._missed_at = {**dict(newest), url: now}
            raise
        kept = list(self._certificates.items())[1 - _MOST_CERTIFICATES :]
        self._certificates = {**dict(kept), url: certificate}
        return certificate

    def _confirm(self, url: str) -> None:
        """Confirm the subscription to SNS.

        Raises:
            MalformedReceipt: the URL is not SNS's.
            CannotVerify: SNS does not answer, or refuses.
        """
        if _CONFIRM_URL.fullmatch(url) is None:
            raise MalformedReceipt("the confirmation URL has a host that does not belong to SNS")
        if self._fetch(url).status != HTTPStatus.OK:
            raise CannotVerify("SNS did not take our confirmation of the subscription")

    def _fetch(self, url: str) -> Response:
        """GET a URL that is known to be SNS's.

        Raises:
            CannotVerify: no answer, or the server's own failure.
        """
        page = Request(url=url, headers=[], method="GET")
        ((_, reply),) = self._transport.send([page], deadline=FETCH_DEADLINE)
        if isinstance(reply, Failure):
            raise CannotVerify(f"SNS cannot be asked now: {reply.code}")
        if reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR or not reply.complete:
            raise CannotVerify(f"SNS cannot be asked now: HTTP {reply.status}")
        return reply


def _is_near(timestamp: str, now: datetime) -> bool:
    """Return True if a Timestamp, like 2012-05-02T00:54:06.655Z, is close to the present time."""
    try:
        at = datetime.fromisoformat(timestamp)
    except ValueError:
        return False
    return at.tzinfo is not None and abs(at - now) <= TOLERANCE


def _fields(body: bytes) -> dict[str, str]:
    """Read the text fields of a post.

    Raises:
        InvalidSignature: the post is no JSON object, so the post has no signature.
    """
    try:
        post = orjson.loads(body)
    except ValueError:
        post = None
    if not isinstance(post, dict):
        raise InvalidSignature("not a message of SNS")
    return {name: text for name, text in post.items() if isinstance(text, str)}
