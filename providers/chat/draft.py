"""The HTTP request of an Apprise URL and a message, for the transport to send.

Apprise supports a hundred chat services, and sends by itself: with no deadline that covers a name
lookup, no guard against private addresses, no status and no Retry-After in the answer. So Apprise's
plugins get a stand-in for `requests` that keeps the first request and ends the plugin. The stand-in
replaces `requests` in Apprise's plugin modules alone, permanently from the first use, and holds no
state, so threads do not affect other threads.

Assumptions: a plugin calls `requests.post` or `requests.request` of the plugin's module, one
message to one target is one request, and the stand-in's exception passes through the plugin. The
tests of each service fail if a change of Apprise breaks an assumption.

Apprise's logger is silenced, because it writes addresses (which carry tokens) and texts.
"""

from __future__ import annotations

import logging
import re
from functools import cache, partial
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

import orjson

from providers.chat.limits import LIMITS, shorten
from providers.chat.markup import Payload
from providers.chat.services import ChatService
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
"""Allowed options after the `?` of an address. Other options make Apprise read a file (`template`),
skip the check of certificates (`verify`) or repeat the message (`to`)."""

_QUERY: Final = re.compile(r"([a-z]+)=[A-Za-z0-9_.\-]*")

_ALL_THAT_IT_RAISES: Final = (AttributeError, LookupError, TypeError, ValueError)
"""Known errors of Apprise's parsers for a malformed address; Apprise's own errors are
subclasses."""


class _Kept(Exception):
    """Ends a plugin at the first request, and carries the request."""

    def __init__(self, request: PreparedRequest) -> None:
        super().__init__("kept")
        self.request = request


def scheme(address: str) -> str:
    """Return the scheme of an address, in lower case; empty if the address has no scheme."""
    return address.partition("://")[0].lower() if "://" in address else ""


def address_after_move(address: str, chat: str) -> str:
    """Return the address of a target with another chat: the last part of the path."""
    path, mark, query = address.partition("?")
    return path.rstrip("/").rpartition("/")[0] + f"/{chat}" + mark + query


def draft(message: Message, *, service: ChatService, sender: str) -> Request:
    """Return the request of a message, unguarded; `sender` is the displayed name.

    Raises:
        Unsendable: the message makes no request, several, or a request that is no message.
    """
    _check_options(message.address)
    _check_form(message.address, service=service)
    plugin = _plugin(message.address, service=service, sender=sender)
    if len(plugin) != 1:
        raise Unsendable("unsupported_address", "write one address for each target")
    text = message.body or message.title
    title = message.title if message.body else ""
    if not is_unicode(title + text):
        raise Unsendable("malformed_text", HALF_A_CHARACTER)
    limit = LIMITS[scheme(message.address)]
    # Apprise makes a file or several messages of a long text.
    if limit.size(text) <= limit.most:
        written = _write(plugin, service, title, text)
        if limit.size(written.counted) <= limit.most:
            return written.request

    def fits(part: str) -> bool:
        if limit.size(part) > limit.most:
            return False
        return limit.size(_write(plugin, service, title, part).counted) <= limit.most

    short = shorten(text, fits, most=limit.most)
    if not short:
        raise Unsendable("payload_too_large", f"the title fills {limit}")
    return _write(plugin, service, title, short).request


class _Written(NamedTuple):
    request: Request
    counted: str
    """The part that the service's limit counts."""


def _write(plugin: NotifyBase, service: ChatService, title: str, text: str) -> _Written:
    """Let the plugin write the request, and correct the payload.

    Raises:
        Unsendable: see `draft`.
    """
    words = {"body": "-"} if service.is_text_ours else {"body": text, "title": title}
    try:
        plugin.notify(**words, body_format="text")
    except _Kept as kept:
        request = kept.request
    except _ALL_THAT_IT_RAISES as error:
        raise Unsendable("unsupported_message", "Apprise cannot write it") from error
    else:
        raise Unsendable("unsupported_message", "Apprise would not send it")
    if request.method != "POST" or not re.match(service.target, request.url or ""):
        raise Unsendable("unsupported_address", "Apprise would do more than post one message")
    try:
        payload = _payload(request, is_form=service.is_form)
        service.finish(payload, title, text)
        counted = service.counted(payload)
    except _ALL_THAT_IT_RAISES as error:
        raise Unsendable("unsupported_message", "Apprise wrote another payload") from error
    return _Written(_ours(request, payload, service=service), counted)


def _payload(request: PreparedRequest, *, is_form: bool) -> Payload:
    """Return the fields of a request.

    Raises:
        ValueError: the body is no JSON, or has a field of a form twice.
    """
    if not is_form:
        payload: Payload = orjson.loads(cast("bytes", request.body))
        return payload
    text = cast("str | None", request.body) or urlsplit(request.url or "").query
    pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True)
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field of a form twice")
    return fields


def _ours(request: PreparedRequest, payload: Payload, *, service: ChatService) -> Request:
    """Write the corrected fields; those of a form into the body, because a URL stands in logs."""
    headers = [
        f"{name}: {value if isinstance(value, str) else value.decode()}"
        for name, value in request.headers.items()
        if name.lower() != "content-length"  # the transport's to say
    ]
    url = request.url or ""
    if service.is_form:
        body = urlencode(payload).encode()
        return Request(url=url.partition("?")[0], headers=headers, body=body)
    if service.query:
        url += ("&" if "?" in url else "?") + service.query
    return Request(url=url, headers=headers, body=orjson.dumps(payload))


def _check_options(address: str) -> None:
    """Check that all options of an address are in OPTIONS.

    Raises:
        Unsendable: the address has another option.
    """
    if len(address) > URL_LIMIT:
        raise Unsendable("unsupported_address", f"longer than {URL_LIMIT} characters")
    query = address.partition("?")[2]
    for option in query.split("&") if query else ():
        match = _QUERY.fullmatch(option)
        if match is None or match[1] not in OPTIONS:
            raise Unsendable("unsupported_address", f"options are {', '.join(sorted(OPTIONS))}")


def _check_form(address: str, *, service: ChatService) -> None:
    """Check the form of an address before Apprise guesses.

    Raises:
        Unsendable: the address has another form.
    """
    place = address.partition("?")[0].partition("://")[2]
    if service.form is not None and not re.fullmatch(service.form.pattern, place):
        raise Unsendable("unsupported_address", service.form.said)


def _plugin(address: str, *, service: ChatService, sender: str) -> NotifyBase:
    """Parse an address with Apprise.

    Raises:
        Unsendable: Apprise cannot parse the address.
    """
    plugin_class = _plugin_class(service.plugin)
    try:
        parsed = plugin_class.parse_url(address)
        if not parsed:
            raise Unsendable("malformed_address", "no address of this service")
        plugin = plugin_class(**{**parsed, "asset": _asset(sender)})
    except _ALL_THAT_IT_RAISES as error:
        raise Unsendable("malformed_address", "no address of this service") from error
    plugin.request_rate_per_sec = 0  # else Apprise sleeps before a second draft
    return plugin


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

    # Apprise logs tokens and texts. `logging.config` sets `disabled` anew, and keeps the level.
    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    module, _, name = path.rpartition(".")
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
"""Arguments of `requests.request` that make the request; the other arguments control sending."""


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
    if isinstance(request.auth, tuple):  # an address may lack the password
        user, password = request.auth
        request.auth = user or "", password or ""
    raise _Kept(request.prepare())
