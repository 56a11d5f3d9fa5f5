"""The permitted types of files, and how a content shows that it has the type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from notifications.core.rules.attachments import ENDINGS

_ZIP: Final = b"PK\x03\x04"
_BEGINNINGS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "application/pdf": (b"%PDF-",),
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
    "text/calendar": (b"BEGIN:VCALENDAR",),
    "text/vcard": (b"BEGIN:VCARD",),
}
"""Type -> the first bytes of a content, one of them. The packages of office programs and of wallets
are ZIP files; the other types are texts."""
_TEXTS: Final = frozenset({
    *("text/plain", "text/csv", "text/calendar", "text/vcard", "application/json")
})
_WEBP: Final = slice(8, 12)
"""Place of `WEBP` behind the length in a RIFF file."""


def type_fault(type_: str) -> str:
    """Return a sentence about a type that is not permitted; empty for a permitted type."""
    if type_ in ENDINGS:
        return ""
    return f"the Content-Type must be one of {', '.join(ENDINGS)}"


def content_fault(type_: str, content: bytes) -> str:
    """Return a sentence about a content that is not of its permitted type; empty if it is."""
    if type_ in _TEXTS and not _is_text(content):
        return f"the file is not {type_}: it is no text in UTF-8"
    beginnings = _BEGINNINGS.get(type_, () if type_ in _TEXTS else (_ZIP,))
    if beginnings and not content.removeprefix(b"\xef\xbb\xbf").startswith(beginnings):
        return f"the file is not {type_}: it begins with other bytes"
    if type_ == "image/webp" and content[_WEBP] != b"WEBP":
        return f"the file is not {type_}: it begins with other bytes"
    return ""


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in content
