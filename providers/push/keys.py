"""Private keys and credentials from settings: the text, or the path of a file.

Readers for `configuration.parse_with`. The readers read files and parse, without network calls. The
readers' errors never repeat the text.
"""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

PEM: Final = "-----BEGIN"
"""Beginning of a PEM text."""

_RAW_P256_BYTES: Final = 32


def text_or_file(text: str, *, opening: str) -> str:
    r"""Return a text with `opening` at the start, else the contents of the named file.

    A PEM in an environment variable often has its line ends as `\n`: they are put right.

    Raises:
        ValueError: the file is missing or unreadable.
    """
    if text.startswith(opening):
        return text.replace("\\n", "\n") if opening == PEM else text
    try:
        return Path(text).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise ValueError(f"write a text that starts with {opening} or the path of a file") from None


def p256_pem(text: str) -> ec.EllipticCurvePrivateKey:
    """Read a P-256 private key: PEM, or the path of a PEM file.

    Raises:
        ValueError: the text is malformed.
    """
    pem = text_or_file(text, opening=PEM)
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError):  # TypeError: it is encrypted
        raise ValueError("must be an unencrypted private key in PEM") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise ValueError("must be a key on the curve P-256")  # noqa: TRY004 - a reader's only error
    return key


def p256_pem_or_raw(text: str) -> ec.EllipticCurvePrivateKey:
    """Read the same, or the 32 bytes in base64url that VAPID key generators print.

    Raises:
        ValueError: the text is malformed.
    """
    try:
        raw = b64decode(text + "=", altchars=b"-_", validate=True)
    except ValueError:
        return p256_pem(text)
    if len(raw) != _RAW_P256_BYTES:
        return p256_pem(text)
    return ec.derive_private_key(int.from_bytes(raw, "big"), ec.SECP256R1())


def is_rsa_pem(text: str) -> bool:
    """Return True for an unencrypted RSA private key."""
    try:
        return isinstance(load_pem_private_key(text.encode(), password=None), rsa.RSAPrivateKey)
    except (ValueError, TypeError):  # TypeError: it is encrypted
        return False
