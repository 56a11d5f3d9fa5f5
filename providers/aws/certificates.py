"""Certificates of SNS signatures.

The module is separate from `topics`, so that only processes with receipts import X.509.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Self

from cryptography import x509
from cryptography.exceptions import InvalidSignature as WrongSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from providers.errors import InvalidSignature

HASHES: Final[Mapping[str, hashes.HashAlgorithm]] = {
    "1": hashes.SHA1(),  # noqa: S303 - the default of topics
    "2": hashes.SHA256(),
}
"""By SignatureVersion."""


class Certificate:
    """A certificate from SNS's own host."""

    def __init__(self, certificate: x509.Certificate) -> None:
        """Store a parsed certificate."""
        self._certificate = certificate

    @classmethod
    def parse(cls, pem: bytes) -> Self:
        """Read a PEM file.

        Raises:
            InvalidSignature: the file is no certificate, so the post has no valid signature.
        """
        try:
            return cls(x509.load_pem_x509_certificate(pem))
        except ValueError:
            raise InvalidSignature("the URL of the certificate has no certificate") from None

    def verify(self, signed: bytes, *, signature: str, version: str, at: datetime) -> None:
        """Check a base64 signature of the present moment.

        Raises:
            InvalidSignature: the signature does not match, or the certificate is not valid now.
        """
        certificate, algorithm = self._certificate, HASHES.get(version)
        if not certificate.not_valid_before_utc <= at <= certificate.not_valid_after_utc:
            raise InvalidSignature("the certificate is not valid now")
        key = certificate.public_key()
        if algorithm is None or not isinstance(key, rsa.RSAPublicKey):
            raise InvalidSignature("unknown version of the signature; use version 1 or 2")
        try:
            made = base64.b64decode(signature, validate=True)
            key.verify(made, signed, padding.PKCS1v15(), algorithm)
        except (binascii.Error, ValueError, WrongSignature):
            raise InvalidSignature("the signature does not match") from None
