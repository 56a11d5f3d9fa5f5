"""Google's end of a benchmark: nginx over TLS and HTTP/2, and a service account that it knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.benchmarks.sink import Sink
from tests.certificate import make_certificate

PROJECT: Final = "bench"


class Google:
    """The token endpoint and FCM in one."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.certificate = folder / "localhost.pem"
        make_certificate(self.certificate)
        self.sink = Sink(folder, certificate=self.certificate)

    def service_account(self) -> str:
        """A fresh JSON key."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return json.dumps({
            "type": "service_account",
            "project_id": PROJECT,
            "client_email": "bench@bench.example",
            "private_key": pem.decode(),
            "token_uri": self.sink.url + "/token",
        })

    def environ(self) -> dict[str, str]:
        """Settings of a process that sends there."""
        return {
            "NOTIFY_FCM_CREDENTIALS": self.service_account(),
            "NOTIFY_FCM_URL": self.sink.url,
            "SSL_CERT_FILE": str(self.certificate),
        }
