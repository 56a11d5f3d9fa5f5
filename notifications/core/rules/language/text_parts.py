"""Parts of texts in templates: `truncate`, `first` and slices cut between grapheme clusters.

`x[:n]` ends after the cluster that position `n` is in, so `{{ name[:1] }}` is a whole first
character, and `x[:n]` with `x[n:]` is the whole text. A slice with a step is Python's.
"""

from __future__ import annotations

from typing import Any, Final

from jinja2 import Environment, pass_environment
from jinja2.filters import FILTERS

from notifications.core.rules.language.formats import RenderError
from providers import graphemes

_LONGEST_CLUSTER: Final = 64
"""Code points that `first` reads: no writing system has a longer cluster."""


def truncate(
    value: str,
    length: int = 255,
    killwords: bool = False,  # noqa: FBT001, FBT002 - the order of Jinja's arguments
    end: str = "...",
    leeway: int = 5,
) -> str:
    """Cut a text as Jinja's `truncate` does: the same arguments and lengths in code points.

    Raises:
        RenderError: `length` has no room for `end`, or `leeway` is negative.
    """
    if length < len(end) or leeway < 0:
        raise RenderError(f"truncate takes a length of {len(end)} or more and no negative leeway")
    if len(value) <= length + leeway:
        return value
    kept = value[: graphemes.last_end(value, length - len(end))]
    return (kept if killwords else kept.rsplit(" ", 1)[0]) + end


@pass_environment
def first(environment: Environment, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the first item of a list, or the first character of a text."""
    if isinstance(value, str) and value:
        return value[: graphemes.next_end(value[:_LONGEST_CLUSTER], 1)]
    return FILTERS["first"](environment, value)


class Sliceable:
    """A text of which a slice is taken next."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __getitem__(self, taken: slice) -> str:
        """Return the slice with its ends moved to the next end of a cluster."""
        if taken.step not in {None, 1}:
            return self._text[taken]
        start, stop, _ = taken.indices(len(self._text))
        return self._text[
            graphemes.next_end(self._text, start) : graphemes.next_end(self._text, stop)
        ]
