"""Keys that open nothing, in the forms in which vendors hand them out."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from functools import cache

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from providers.push.fcm_token import ServiceAccount


@cache
def rsa_pem() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@cache
def p256() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def p256_pem() -> str:
    return p256().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def p256_raw() -> str:
    number = p256().private_numbers().private_value
    return urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()


def account_json(token_uri: str = "https://localhost/token", **changes: str) -> str:
    return json.dumps({
        "type": "service_account",
        "project_id": "shop",
        "private_key_id": "1",
        "private_key": rsa_pem(),
        "client_email": "push@shop.iam.gserviceaccount.com",
        "token_uri": token_uri,
        **changes,
    })


def account(token_uri: str) -> ServiceAccount:
    return ServiceAccount.parse(account_json(token_uri))
