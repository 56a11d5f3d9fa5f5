"""SNS in a test: a certificate of its own, what it signs, and a transport that leads to it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import orjson
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from providers.contract import ReceiptRequest
from providers.sandbox_server.wire import Connection, ServerAnswer
from providers.sandbox_server.wire import ServerRequest as Seen
from providers.transport import Reply, Request, Transport
from tests.providers.aws.fakes import TOPIC
from tests.providers.fakes import Listener

HOST = "https://sns.eu-west-1.amazonaws.com"
CERTIFICATE_URL = HOST + "/SimpleNotificationService-0123456789abcdef.pem"
CONFIRM_URL = HOST + "/?Action=ConfirmSubscription&TopicArn=arn&Token=t0ken"

HASHES = {"1": hashes.SHA1(), "2": hashes.SHA256()}  # noqa: S303 - SNS's version 1
SIGNED = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": (
        "Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type",
    ),
}  # fmt: skip
SIGNED["UnsubscribeConfirmation"] = SIGNED["SubscriptionConfirmation"]


class Signer:
    """A key and its certificate."""

    def __init__(self, *, valid_for: timedelta = timedelta(days=1)) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
        now = datetime.now(UTC)  # noqa: TID251 - a certificate is valid around the real time
        certificate = (
            x509
            .CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=2))
            .not_valid_after(now + valid_for)
            .sign(self.key, hashes.SHA256())
        )
        self.pem = certificate.public_bytes(serialization.Encoding.PEM)

    def post(
        self, message: str, *, kind: str = "Notification", version: str = "2", **changed: str
    ) -> dict[str, str]:
        """Write what SNS posts; what is changed here is signed like the rest."""
        post = {
            "Type": kind,
            "MessageId": str(uuid4()),
            "TopicArn": TOPIC,
            "Message": message,
            "Timestamp": stamp(),
            "SignatureVersion": version,
            "SigningCertURL": CERTIFICATE_URL,
        }
        if kind != "Notification":
            post |= {"Token": "t0ken", "SubscribeURL": CONFIRM_URL}
        post |= changed
        signed = "".join(f"{name}\n{post[name]}\n" for name in SIGNED[kind] if name in post)
        signature = self.key.sign(signed.encode(), padding.PKCS1v15(), HASHES[version])
        return post | {"Signature": base64.b64encode(signature).decode()}


def stamp(ago: timedelta = timedelta(0)) -> str:
    """An instant as SNS writes it."""
    at = datetime.now(UTC) - ago  # noqa: TID251 - a certificate is valid around the real time
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


class SnsServer(Transport):
    """A transport whose requests for SNS's hosts go to a server here, over real HTTP."""

    def __init__(self, signer: Signer) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.status = 200
        self._pem = signer.pem
        self._listener = Listener(lambda: Connection(self._handle))

    def send(
        self,
        requests: Sequence[Request],
        *,
        deadline: timedelta,
        begins: Sequence[Callable[[], None] | None] = (),
    ) -> Generator[tuple[int, Reply], None, None]:
        here = f"http://127.0.0.1:{self._listener.port}"
        self.fetched += [request.url for request in requests]
        led = [replace(each, url=each.url.replace(HOST, here)) for each in requests]
        return super().send(led, deadline=deadline, begins=begins)

    def stop(self) -> None:
        self._listener.stop()

    def close(self) -> None:
        super().close()
        self._listener.close()

    def _handle(self, request: Seen) -> ServerAnswer:
        assert request.method == "GET"
        found = request.path.endswith(".pem")
        return ServerAnswer(status=self.status, body=self._pem if found else b"<ok/>")


def request(post: object) -> ReceiptRequest:
    return ReceiptRequest(url="https://here.example/", headers={}, body=orjson.dumps(post))
