"""Signature Version 4 for requests whose path is plain and whose query is empty.

botocore's signer is not used, because botocore rebuilds a header map for each request and logs the
signed text. The tests compare both signers byte for byte.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final
from urllib.parse import quote, urlsplit

from providers.aws.credentials import Keys

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class Signer:
    """Signs the requests of one moment: the day's key is derived once for a whole batch."""

    def __init__(self, keys: Keys, *, region: str, service: str, at: datetime) -> None:
        """Derive the key; `at` is aware, in UTC. AWS takes a request within 15 minutes of `at`."""
        self._keys = keys
        self._stamp = at.strftime("%Y%m%dT%H%M%SZ")
        self._scope = f"{self._stamp[:8]}/{region}/{service}/aws4_request"
        key = b"AWS4" + keys.secret_access_key.encode()
        for part in self._scope.split("/"):
            key = hmac.digest(key, part.encode(), sha256)
        self._key = key

    def sign_headers(
        self, headers: Sequence[str], *, method: str, url: str, body: bytes
    ) -> list[str]:
        """Return all header lines: the given lines, then date, token and signature.

        Each given line is `Name: value`, without repeated spaces.
        """
        lines = [*headers, "X-Amz-Date: " + self._stamp]
        if self._keys.session_token:
            lines.append("X-Amz-Security-Token: " + self._keys.session_token)
        parts = urlsplit(url)
        named = {"host": _host(parts.scheme, parts.hostname or "", parts.port)}
        for line in lines:
            name, _, value = line.partition(":")
            named[name.lower()] = value.strip()
        names = sorted(named)
        signed_names = ";".join(names)
        canonical = "\n".join((
            method,
            quote(parts.path or "/", safe="/~"),
            "",
            *(f"{name}:{named[name]}" for name in names),
            "",
            signed_names,
            sha256(body).hexdigest(),
        ))
        digest = sha256(canonical.encode()).hexdigest()
        to_sign = f"{_ALGORITHM}\n{self._stamp}\n{self._scope}\n{digest}"
        signature = hmac.digest(self._key, to_sign.encode(), sha256).hex()
        credential = f"{self._keys.access_key_id}/{self._scope}"
        lines.append(
            f"Authorization: {_ALGORITHM} Credential={credential}, "
            f"SignedHeaders={signed_names}, Signature={signature}"
        )
        return lines


def _host(scheme: str, host: str, port: int | None) -> str:
    """Return the Host header as libcurl writes the header: without the scheme's default port."""
    host = f"[{host}]" if ":" in host else host
    return host if port in {None, _DEFAULT_PORTS[scheme]} else f"{host}:{port}"
