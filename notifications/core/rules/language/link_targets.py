"""Targets of links and images in rendered HTML: none runs a script.

The HTML of a template is the author's, with targets of any scheme. A value that begins a target can
come from a person, so a target that a program would run is refused, also in the text of an
operator. `language.addresses` has the stricter rule of mails in blocks.
"""

from __future__ import annotations

import re
from typing import Final

from notifications.core.rules.language.formats import RenderError
from providers import html_references

_SCRIPTS: Final = ("javascript:", "vbscript:")
_DOCUMENTS: Final = (*_SCRIPTS, "data:")
"""Schemes of links and forms; an image may have its content in the target."""
_REFUSED: Final = {
    **dict.fromkeys(("href", "action", "formaction"), _DOCUMENTS),
    **dict.fromkeys(("src", "background"), _SCRIPTS),
}
"""Schemes by attribute."""
_BEGIN: Final = re.compile(
    r"=\s*+[\"']?+[\x00-\x20]*+(?:&|[jJ][\x00-\x20&aA]|[vV][\x00-\x20&bB]|[dD][\x00-\x20&aA])"
)
"""The begin of each refused target and of few others: a usual mail costs one search."""
_TAG: Final = re.compile(r"<[a-zA-Z](?:[^\"'>]++|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))*")
"""A tag, also one in a comment: Outlook reads conditional comments. The pattern matches from each
begin of a tag, so that the time grows with the length and not with its square."""
_ATTRIBUTE: Final = re.compile(
    rf"(?<=[\s/\"':])({'|'.join(_REFUSED)})\s*+=\s*+(?![\"']?(?:https?:|mailto:|cid:|[#/]))"
    r"(?:[\"']([^\"'>]*+)|([^ \t\n\r\f\"'>]*+))",
    re.IGNORECASE,
)
"""An attribute with a target, without the usual targets."""
_ZEROS: Final = re.compile("(&#x?)0+", re.IGNORECASE)
"""The begin of a reference such as `&#00106;`, which is as long as an author likes."""
_IGNORED: Final = dict.fromkeys(range(0x21))
"""Characters that a browser removes from the begin or from within a scheme: space and below."""


def check(source: str) -> None:
    """Check the targets of rendered HTML.

    Raises:
        RenderError: a link, a form or an image begins with a scheme that runs a script.
    """
    if not _BEGIN.search(source):
        return
    for tag in _TAG.findall(source):  # the text of a mail may quote such an attribute
        for name, quoted, unquoted in _ATTRIBUTE.findall(tag):
            if (bare := _bare(quoted or unquoted)).startswith(_REFUSED[name.lower()]):
                scheme = bare.partition(":")[0]
                raise RenderError(f"a link or an image of the HTML begins with {scheme}:")


def _bare(target: str) -> str:
    if "&" in target:
        target = html_references.unescape(_ZEROS.sub(r"\1", target))
    return target.translate(_IGNORED).lower()
