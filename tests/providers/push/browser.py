"""The other end of a Web Push: a subscription, and the private key that can read what comes."""

from __future__ import annotations

import json
import os
from base64 import urlsafe_b64encode
from typing import Any

import http_ece
import orjson
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


class Browser:
    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._auth = os.urandom(16)
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.point_text, self.auth_text = base64url(point), base64url(self._auth)

    @property
    def subscription(self) -> str:
        keys = {"p256dh": self.point_text, "auth": self.auth_text}
        return json.dumps({"endpoint": self.endpoint, "expirationTime": None, "keys": keys})

    def read(self, body: bytes) -> Any:  # noqa: ANN401 - JSON
        plain = http_ece.decrypt(
            body, private_key=self._key, auth_secret=self._auth, version="aes128gcm"
        )
        return orjson.loads(plain)
