"""Go's templates, as listmonk uses them for transactional messages: variables and `if`.

    {{ .Subscriber.Name }}            {{ name }}
    {{ .Subscriber.Attribs.city }}    {{ city }}
    {{ .Tx.Data.order.total }}        {{ order.total }}
    {{ UnsubscribeURL }}              {{ unsubscribe_url }}
    {{ TrackLink "https://a.example" . }}    the URL: the notification type counts clicks

Loops, functions and the layout of campaigns (`{{ template "content" . }}`) are refused:
https://listmonk.app/docs/templating
"""

from __future__ import annotations

import re
from typing import Final

from notifications.features.moving.languages import converted
from notifications.features.moving.languages.converted import NotConvertible

_TAG: Final = re.compile(r"\{\{(-?)([^{}]*?)(-?)\}\}")
_SUBSCRIBER: Final = {
    ".Subscriber.Name": "name",
    ".Subscriber.FirstName": "first_name",
    ".Subscriber.LastName": "last_name",
    ".Subscriber.Email": "email",
}
_LINKS: Final = {"UnsubscribeURL": "unsubscribe_url", "ManageURL": "preferences_url"}
_OBJECTS: Final = (".Subscriber.Attribs.", ".Tx.Data.")
_TRACKED: Final = re.compile(r'TrackLink\s+"([^"{}]+)"(?:\s+[.$])?')
_WITHOUT_TEXT: Final = re.compile(r"/\*.*\*/|TrackView(?:\s+[.$])?", re.DOTALL)
_MARKED: Final = re.compile(r"(https?://[^\s\"'<>]{1,2000}?)@TrackLink")


def convert(source: str) -> str:
    """Return the source with Jinja's tags.

    Raises:
        NotConvertible: an action has no exact counterpart.
    """
    text = _MARKED.sub(r"\1", source)
    return _GoConverter(text).convert()


class _GoConverter:
    """A conversion, with the number of open conditions."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._open = 0

    def convert(self) -> str:
        converted_text = converted.rewrite(self._source, _TAG, self._tag)
        if self._open:
            raise NotConvertible(self._source, len(self._source), "an if has no end")
        return converted_text

    def _tag(self, found: re.Match[str]) -> str:
        before, inner, after = found[1], found[2].strip(), found[3]
        if tracked := _TRACKED.fullmatch(inner):
            return tracked[1]
        if _WITHOUT_TEXT.fullmatch(inner):
            return ""
        if statement := self._statement(inner, found.start()):
            return f"{{%{before} {statement} {after}%}}"
        if value := _variable(inner):
            return f"{{{{{before} {value} {after}}}}}"
        said = f"{{{{ {inner} }}}} has no exact counterpart"
        raise NotConvertible(self._source, found.start(), said)

    def _statement(self, inner: str, at: int) -> str:
        """Return the statement of a condition; empty for another action.

        Raises:
            NotConvertible: the end of a condition that is not open.
        """
        if inner in {"else", "end"}:
            if not self._open:
                raise NotConvertible(self._source, at, f"{inner} belongs to no open block")
            self._open -= inner == "end"
            return "else" if inner == "else" else "endif"
        if inner.startswith("if ") and (value := _variable(inner[3:].strip())):
            self._open += 1
            return f"if {converted.is_defined(value)} and {value}"
        return ""


def _variable(written: str) -> str | None:
    bare = written.removesuffix(" .").removeprefix(".") if "URL" in written else written
    if bare in _LINKS:
        return _LINKS[bare]
    if written in _SUBSCRIBER:
        return _SUBSCRIBER[written]
    for begin in _OBJECTS:
        if written.startswith(begin):
            return converted.path(written.removeprefix(begin))
    return None
