"""Link, image and actions of an in-app text: compiled once, rendered for each message."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from notifications.core.rules import in_app
from notifications.core.rules.in_app import Action, InAppPart
from notifications.core.rules.language import templating
from notifications.core.rules.language.templating import CompiledText, Reader, RenderError
from providers import graphemes


@dataclass(frozen=True, slots=True)
class CompiledPart:
    """A compiled part, shared by all threads."""

    url: CompiledText
    image_url: CompiledText
    actions: tuple[tuple[str, CompiledText, CompiledText], ...]
    """Id, label and URL."""

    def render(self, variables: Mapping[str, Any], reader: Reader) -> InAppPart:
        """Fill in the variables; an action with an empty label or link is left out.

        Raises:
            RenderError: a variable is missing or of the wrong type, or a part is too large.
        """
        actions = []
        for action_id, label, url in self.actions:
            shown = graphemes.cut(_line(label, variables, reader), in_app.MAX_LABEL)
            link = _link(url, variables, reader)
            if shown and (link or url is _NO_TEXT):
                actions.append(Action(action_id, shown, link))
        return InAppPart(
            _link(self.url, variables, reader),
            _link(self.image_url, variables, reader),
            tuple(actions),
        )


def compile_part(part: InAppPart) -> CompiledPart | None:
    """Compile the sources of a part; None for an empty part.

    Raises:
        BrokenTemplate: a source would not be safe to render.
    """
    if part == in_app.EMPTY:
        return None
    return CompiledPart(
        _compile(part.url),
        _compile(part.image_url),
        tuple((each.id, _compile(each.label), _compile(each.url)) for each in part.actions),
    )


def check_urls(part: InAppPart, schemes: Collection[str]) -> None:
    """Check the URLs of a rendered part.

    Raises:
        RenderError: a URL is not one that an inbox opens.
    """
    for where, fault in in_app.url_faults(part, schemes):
        raise RenderError(f"{'.'.join(map(str, where))} {fault}")


def _compile(source: str) -> CompiledText:
    return templating.compile_text(source, "") if source else _NO_TEXT


_URL_CHARACTERS: Final = "%:/?#[]@!$&'()*+,;=~-._"
"""Reserved and unreserved characters of RFC 3986, and the percent sign."""
_NO_TEXT: Final = templating.compile_text("", "")


def _link(text: CompiledText, variables: Mapping[str, Any], reader: Reader) -> str:
    """Render a URL; values of variables are percent-encoded where necessary (RFC 3986)."""
    return quote(_line(text, variables, reader), safe=_URL_CHARACTERS)


def _line(text: CompiledText, variables: Mapping[str, Any], reader: Reader) -> str:
    return text.render(variables, reader).title.strip()
