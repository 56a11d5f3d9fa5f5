"""The demo's secrets, in `var/demo.json`, readable by the file's owner alone.

The secrets last as long as the demo's data, because a new encryption key cannot decrypt old data.
"""

from __future__ import annotations

import base64
import json
import secrets
from pathlib import Path

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric import ec


def demo_secrets(var: Path) -> dict[str, str]:
    """Return the secrets by variable, and create missing secrets; raises OSError for no access."""
    path = var / "demo.json"
    try:
        known: dict[str, str] = json.loads(path.read_text())
    except FileNotFoundError:
        known = {}
    fresh = {**_fresh(), **known}
    if fresh != known:
        path.touch(mode=0o600)
        path.write_text(json.dumps(fresh, indent=2))
    return fresh


def _fresh() -> dict[str, str]:
    return {
        "NOTIFY_SECRET_KEY": secrets.token_hex(32),
        "NOTIFY_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "NOTIFY_FLOWER_PASSWORD": secrets.token_urlsafe(12),
        "NOTIFY_SANDBOX_SECRET": _signing_secret(),
        "NOTIFY_WEBHOOK_SECRETS": _signing_secret(),
        "NOTIFY_WEB_PUSH_PRIVATE_KEY": _vapid_key(),
        "DEMO_ADMIN_PASSWORD": secrets.token_urlsafe(12),
    }


def _vapid_key() -> str:
    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return base64.urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()


def _signing_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
