"""From an Apprise URL and a message to the one request that says it, which we then send ourselves.

Apprise knows the shapes of a hundred chat services, and sends by itself: with no deadline that
covers a name lookup, no guard against private addresses, no status and no Retry-After in its
answer. So its plugins are given a stand-in for `requests` that keeps the first request and ends
the plugin there. It stands in Apprise's plugin modules alone, from their first use and for good,
and holds no state: threads cannot disturb each other.

What it relies on: a plugin calls `requests.post` or `requests.request` of its own module, one
message to one target is one request, and an exception of ours passes through it. Breaks if Apprise
changes that: the tests of each service notice.

Apprise's logger is silenced, because it writes addresses (which carry tokens) and texts.
"""

from __future__ import annotations

import logging
import re
from functools import cache, partial
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final, NoReturn

from providers.chat.services import Service
from providers.contract import Message
from providers.rounds import HALF_A_CHARACTER, Unsendable, is_unicode
from providers.transport import Request
from providers.transport.guard import URL_LIMIT

if TYPE_CHECKING:
    # Apprise and requests cost 26 MB: only the process that sends chat loads them.
    from apprise import AppriseAsset
    from apprise.plugins.base import NotifyBase
    from requests import PreparedRequest

OPTIONS: Final = frozenset({"mode", "pa", "route", "thread", "topic", "ver"})
"""What may follow the `?` of an address. Others make Apprise read a file (`template`), skip the
check of certificates (`verify`) or repeat the message (`to`)."""

_QUERY: Final = re.compile(r"([a-z]+)=[A-Za-z0-9_.\-]*")

_ALL_THAT_IT_RAISES: Final = (AttributeError, LookupError, TypeError, ValueError)
"""What Apprise's parsers are known to raise for a malformed address; its own errors are of these
kinds too."""


class _Kept(Exception):
    """Ends a plugin at its first request, and carries it."""

    def __init__(self, request: PreparedRequest) -> None:
        super().__init__("kept")
        self.request = request


def scheme(address: str) -> str:
    """Return the scheme of an address, in lower case; empty where it has none."""
    return address.partition("://")[0].lower() if "://" in address else ""


def draft(message: Message, *, service: Service, sender: str) -> Request:
    """Write the request that a message makes, unguarded; `sender` is the name that people see.

    Raises:
        Unsendable: it makes none, or more than one, or one that is no message.
    """
    _check_options(message.address)
    plugin = _plugin(message.address, service=service, sender=sender)
    if len(plugin) != 1:
        raise Unsendable("unsupported_address", "write one address for each target")
    text = message.body or message.title
    title = message.title if message.body else ""
    if not is_unicode(title + text):
        raise Unsendable("malformed_text", HALF_A_CHARACTER)
    length = len(title) + len(text)
    if length > plugin.body_maxlen:
        raise Unsendable("payload_too_large", f"{length} characters, at most {plugin.body_maxlen}")
    try:
        plugin.notify(body=text, title=title, body_format="text")
    except _Kept as kept:
        request = kept.request
    except _ALL_THAT_IT_RAISES as error:
        raise Unsendable("unsupported_message", "Apprise cannot write it") from error
    else:
        raise Unsendable("unsupported_message", "Apprise would not send it")
    if request.method != "POST" or not re.match(service.target, request.url or ""):
        raise Unsendable("unsupported_address", "Apprise would do more than post one message")
    return _ours(request)


def _ours(request: PreparedRequest) -> Request:
    body = request.body or b""
    headers = [
        f"{name}: {value if isinstance(value, str) else value.decode()}"
        for name, value in request.headers.items()
        if name.lower() != "content-length"  # the transport's to say
    ]
    payload = body if isinstance(body, bytes) else str(body).encode()
    return Request(url=request.url or "", headers=headers, body=payload)


def _check_options(address: str) -> None:
    """Hold what follows an address's `?` against OPTIONS.

    Raises:
        Unsendable: there is something else.
    """
    if len(address) > URL_LIMIT:
        raise Unsendable("unsupported_address", f"longer than {URL_LIMIT} characters")
    query = address.partition("?")[2]
    for option in query.split("&") if query else ():
        match = _QUERY.fullmatch(option)
        if match is None or match[1] not in OPTIONS:
            raise Unsendable("unsupported_address", f"options are {', '.join(sorted(OPTIONS))}")


def _plugin(address: str, *, service: Service, sender: str) -> NotifyBase:
    """Let Apprise parse an address.

    Raises:
        Unsendable: it cannot.
    """
    plugin_class = _plugin_class(service.plugin)
    try:
        parsed = plugin_class.parse_url(address)
        if not parsed:
            raise Unsendable("malformed_address", "no address of this service")
        return plugin_class(**{**parsed, "asset": _asset(sender)})
    except _ALL_THAT_IT_RAISES as error:
        raise Unsendable("malformed_address", "no address of this service") from error


@cache
def _asset(sender: str) -> AppriseAsset:
    from apprise import AppriseAsset  # noqa: PLC0415 - see TYPE_CHECKING above

    # Without masks Apprise links no picture of its own.
    return AppriseAsset(
        app_id=sender, app_desc=sender, app_url="", image_url_mask=None, image_url_logo=None
    )


@cache
def _plugin_class(path: str) -> type[NotifyBase]:
    import requests  # noqa: PLC0415 - see TYPE_CHECKING above

    logging.getLogger("apprise").disabled = True
    module, _, name = path.partition(".")
    loaded = import_module(f"apprise.plugins.{module}")
    verbs = {verb: partial(_keep, verb) for verb in ("get", "post", "put", "patch", "delete")}
    vars(loaded)["requests"] = SimpleNamespace(
        request=_keep,
        codes=requests.codes,
        exceptions=requests.exceptions,
        RequestException=requests.RequestException,
        **verbs,
    )
    plugin: type[NotifyBase] = getattr(loaded, name)
    return plugin


_PARTS: Final = ("params", "data", "json", "headers", "auth", "files")
"""Arguments of `requests.request` that make the request; the others say how to send it."""


def _keep(method: str, url: str, **given: object) -> NoReturn:
    """Stand in for `requests.request`.

    Raises:
        _Kept: always.
    """
    import requests  # noqa: PLC0415 - see TYPE_CHECKING above

    request = requests.Request(method.upper(), url)
    for name in _PARTS:
        if given.get(name) is not None:
            setattr(request, name, given[name])
    raise _Kept(request.prepare())
