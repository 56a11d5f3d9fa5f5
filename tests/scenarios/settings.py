"""Settings of the running product of the scenarios."""

from __future__ import annotations

from typing import Final

from notifyproj.devstack.ports import LOOPBACK

SETTINGS: Final = {
    "NOTIFY_SECRET_KEY": "a-key-for-scenarios-that-signs-nothing-of-worth",
    "NOTIFY_ENCRYPTION_KEYS": "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk=",
    "NOTIFY_SANDBOX_SECRET": "whsec_dGVzdHMtc2lnbi10aGVpci1yZWNlaXB0cy13aXRoLXRoaXM=",
    "NOTIFY_ROUTES": "push=sandbox,sms=sandbox,email=sandbox,webhook=sandbox,chat=sandbox",
    "NOTIFY_ALLOWED_HOSTS": LOOPBACK,
    "NOTIFY_BULK_JOB_PER_HOUR": "0",  # audiences of tests leave at once
    "NOTIFY_CAPS": "none",  # one person stands for many
    "DEMO_ADMIN_PASSWORD": "opens-nothing",
    "PYTHONUNBUFFERED": "1",
    "PATH": "/usr/bin:/bin",
}
PRIVATE_WEBHOOKS: Final = {
    "NOTIFY_WEBHOOK_ALLOW_PRIVATE": "yes",
    "NOTIFY_WEBHOOK_SECRETS": "whsec_dGVzdHMtc2lnbi10aGVpci13ZWJob29rcw==",
}
"""Settings of a product that sends webhooks to this machine."""
