"""Checks of a brand before the brand is stored, for the API and the admin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from notifications.core import conf
from notifications.core.rules import brand, in_app
from providers import mailboxes

LONGEST_LABEL: Final = 60
_LINES: Final = ("name", "logo_alt", "sender_name")
"""Fields of one line: control characters would end a header."""
_URLS: Final = ("logo_url", "website_url")
_MAILBOXES: Final = ("sender_address", "reply_to")


def normalize(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values in the stored form: mailboxes as `mailboxes.check` writes them."""
    made = {name: " ".join(given[name].split()) for name in (*_LINES, *_URLS) if name in given}
    made["color"] = given.get("color", brand.COLOR).strip().lower()
    for name in _MAILBOXES:
        text = given.get(name, "").strip()
        try:
            made[name] = mailboxes.check(text) if text else ""
        except mailboxes.MalformedAddress:
            made[name] = text  # `faults` names it
    return {**given, **made}


def faults(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield field and clause of each fault of normalized values."""
    if not values.get("name"):
        yield "name", "must not be empty"
    for name in _LINES:
        if not values.get(name, "").isprintable():
            yield name, "must not hold control characters"
    for name in _URLS:
        if fault := url_fault(values.get(name, "")):
            yield name, fault
    if fault := brand.color_fault(values["color"]):
        yield "color", fault
    if values.get("font", brand.DEFAULT_FONT) not in brand.FONTS:
        yield "font", f"must be one of {', '.join(brand.FONTS)}"
    yield from _link_faults(values.get("links") or ())
    yield from _mailbox_faults(values)


def url_fault(url: str) -> str:
    """Return the fault of a URL as a clause; empty for an https URL or an empty text."""
    if not url or (brand.origin(url) and _has_port(url)):
        return in_app.url_fault(url, ())
    return (
        "must be an https URL with a host in ASCII letters, such as https://shop.example/logo.png"
    )


def _has_port(url: str) -> bool:
    """Return False for a port above 65535."""
    try:
        _ = urlsplit(url).port
    except ValueError:
        return False
    return True


def _link_faults(links: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    if len(links) > brand.MOST_LINKS:
        yield "links", f"must be at most {brand.MOST_LINKS} links"
    for number, link in enumerate(links, start=1):
        label, url = link.get("label", ""), link.get("url", "")
        if not label or len(label) > LONGEST_LABEL or not label.isprintable():
            yield (
                "links",
                f"link {number} must have a label of 1 to {LONGEST_LABEL} characters in one line",
            )
        if fault := url_fault(url) if url else "must have a URL":
            yield "links", f"link {number} {fault}"


def _mailbox_faults(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _MAILBOXES:
        text = values.get(name, "")
        try:
            address = mailboxes.check(text) if text else ""
        except mailboxes.MalformedAddress as error:
            yield name, str(error)
            continue
        if name == "sender_address" and address:
            fault = brand.sender_fault(address, conf.current().mail_senders)
            if fault:
                yield name, fault
