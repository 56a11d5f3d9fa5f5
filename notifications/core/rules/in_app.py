"""The parts of an in-app message besides title and body: link, image and actions.

A push has a link and an image, too, under the same rules.

    InAppPart    written by an author (with variables) or a producer, or rendered for a recipient
                 (`texts.in_app_text`)

All texts of an in-app message are plain text: the inbox shows no HTML. A link leads to an https
URL, to a path of the site that shows the inbox, or to an app (`NOTIFY_INBOX_URL_SCHEMES`). No other
scheme passes, so `javascript:` and `data:` never reach a browser.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from providers import graphemes

PROVIDER: Final = "inbox"
"""Name of the adapter that delivers into inboxes."""
MAX_ACTIONS: Final = 3
MAX_TITLE: Final = 200
MAX_BODY: Final = 4_000
"""Characters of title and body; `fit` cuts a longer text. A page of 50 items stays small."""
MAX_LABEL: Final = 60
MAX_URL: Final = 2_048
ACTION_ID: Final = r"^[A-Za-z0-9_.\-]{1,64}$"
FORBIDDEN_SCHEMES: Final = frozenset({
    *("http", "javascript", "vbscript", "data", "blob", "file", "filesystem", "about"),
    *("view-source", "ws", "wss", "ftp"),
})
"""Schemes that no setting allows, because a browser runs them or they are not encrypted."""
SCHEME: Final = re.compile(r"[a-z][a-z0-9+.\-]*")
_REFUSED: Final = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029\\<>\"`{}|^]")
"""Characters that no URL has; browsers drop or change some of them before they read a scheme."""


class Action(NamedTuple):
    """A button of an in-app message."""

    id: str
    label: str
    url: str = ""
    """Empty: a callback. The service records the click and tells the producer."""


class InAppPart(NamedTuple):
    """Link, image and actions of an in-app message."""

    url: str = ""
    image_url: str = ""
    actions: tuple[Action, ...] = ()


EMPTY: Final = InAppPart()


def sources(part: InAppPart) -> Iterator[tuple[str, str]]:
    """Yield the name and the source of each text of a part."""
    if part.url:
        yield "link", part.url
    if part.image_url:
        yield "image", part.image_url
    for each in part.actions:
        yield f"label of the action {each.id}", each.label
        if each.url:
            yield f"link of the action {each.id}", each.url


def read(stored: object) -> InAppPart:
    """Read a stored part; unknown and malformed fields, of another release, are ignored."""
    if not stored or not isinstance(stored, Mapping):
        return EMPTY
    listed = stored.get("actions")
    listed = listed if isinstance(listed, list) else []
    actions = [each for each in listed if isinstance(each, Mapping)]
    return InAppPart(
        _text(stored, "url"),
        _text(stored, "image_url"),
        tuple(Action(*(_text(each, name) for name in Action._fields)) for each in actions),
    )


def written(part: InAppPart) -> dict[str, Any]:
    """Return the part as JSON, without empty fields."""
    told: dict[str, Any] = {"url": part.url, "image_url": part.image_url}
    told["actions"] = [
        {name: text for name, text in each._asdict().items() if text} for each in part.actions
    ]
    return {name: value for name, value in told.items() if value}


def normalize(part: InAppPart) -> InAppPart:
    """Return the part in the stored form: each text in one line, without empty actions."""
    actions = [Action(*(" ".join(text.split()) for text in each)) for each in part.actions]
    return InAppPart(
        " ".join(part.url.split()),
        " ".join(part.image_url.split()),
        tuple(each for each in actions if any(each)),
    )


def structure_faults(part: InAppPart) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield place and sentence of the faults independent of the variables."""
    if len(part.actions) > MAX_ACTIONS:
        yield ("actions",), f"may hold {MAX_ACTIONS} actions, not {len(part.actions)}"
    seen: set[str] = set()
    for place, each in enumerate(part.actions):
        if not re.fullmatch(ACTION_ID, each.id):
            yield ("actions", place, "id"), "must be 1 to 64 of A-Z a-z 0-9 _ . -"
        if each.id in seen:
            yield ("actions", place, "id"), f"must not repeat the id {each.id}"
        seen.add(each.id)
        if not each.label.strip():
            yield ("actions", place, "label"), "must not be empty"


def url_faults(
    part: InAppPart, schemes: Collection[str]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield place and sentence of the URLs refused by an inbox.

    Args:
        part: a rendered part.
        schemes: the app schemes allowed beside https.
    """
    links: list[tuple[tuple[str | int, ...], str]] = [(("url",), part.url)]
    links += [(("actions", place, "url"), each.url) for place, each in enumerate(part.actions)]
    for where, url in links:
        if fault := url_fault(url, schemes):
            yield where, fault
    if fault := url_fault(part.image_url, ()):
        yield ("image_url",), fault


def url_fault(url: str, schemes: Collection[str]) -> str:
    """Return the fault of a URL as a sentence; empty for an allowed or an empty URL."""
    if len(url) > MAX_URL:
        return f"may take {MAX_URL} characters, not {len(url)}"
    if _REFUSED.search(url):
        return "must not hold spaces, quotes, backslashes, braces or control characters"
    if not url or _is_opened(url, schemes):
        return _host_fault(url)
    allowed = ["an https URL", "a path such as /orders/1"]
    if schemes:
        allowed.append(f"a URL of {', '.join(f'{each}:' for each in sorted(schemes))}")
    return f"must be {' or '.join(allowed)}"


def _is_opened(url: str, schemes: Collection[str]) -> bool:
    if url.startswith("/"):
        return not url.startswith("//")
    scheme, _, rest = url.partition(":")
    scheme = scheme.lower()
    if scheme == "https":
        return re.match(r"//[^/?#]", rest) is not None
    return bool(rest) and scheme in schemes and scheme not in FORBIDDEN_SCHEMES


def _host_fault(url: str) -> str:
    """Return the fault of an https URL with a name before `@`, or an invisible character."""
    host = re.match(r"(?i)https://([^/?#]*)", url)
    if host is None:
        return ""
    if "@" in host[1]:
        return "must not hold a user name before the host"
    if any(unicodedata.category(each) == "Cf" for each in host[1]):
        return "must not hold invisible characters in the host"
    return ""


def fit(title: str, body: str) -> tuple[str, str]:
    """Return title and body within the limits, cut with an ellipsis."""
    return graphemes.cut(title, MAX_TITLE), graphemes.cut(body, MAX_BODY)


def _text(found: Mapping[str, Any], name: str) -> str:
    text = found.get(name)
    return text if isinstance(text, str) else ""
