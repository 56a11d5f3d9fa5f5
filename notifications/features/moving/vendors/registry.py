"""The readers of the vendors' files."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from notifications.features.moving.export import Read
from notifications.features.moving.vendors import (
    firebase,
    govuk_notify,
    knock,
    listmonk,
    novu,
    onesignal,
    postmark,
    recipient_csv,
    sendgrid,
    ses,
)

READERS: Final[Mapping[str, Read]] = MappingProxyType({
    "csv": recipient_csv.read,
    "firebase": firebase.read,
    "govuk_notify": govuk_notify.read,
    "knock": knock.read,
    "listmonk": listmonk.read,
    "novu": novu.read,
    "onesignal": onesignal.read,
    "postmark": postmark.read,
    "sendgrid": sendgrid.read,
    "ses": ses.read,
})
"""Name in `manage.py import_from` -> reader."""
