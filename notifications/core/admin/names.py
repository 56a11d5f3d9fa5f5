"""Existing names, for the lists and the completion in forms.

A form shows at most FEW names as a select. Of more names, a text box completes those with the typed
text, and takes any name; the form's own check refuses an unknown name. A page has the first MOST
names of a kind; a box with a URL of a search completes the others too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from notifications.core.models import NotificationType, Producer, Template
from notifications.core.rules.lane import Priority
from notifications.core.store.templates.rows import ONE_OFF

FEW: Final = 30
"""Names of a select; a longer list is searched by typing."""
MOST: Final = 200
"""Names of a list."""


class Names(NamedTuple):
    """The first names of a kind, in order."""

    options: list[tuple[str, str]]
    """Name, and the text of the list."""
    is_whole: bool
    """False: more names exist."""


class CompletedInput(UnfoldAdminTextInputWidget):
    """A text box that completes names, with a datalist of its own or of another box."""

    def __init__(self, names: Names, *, empty: str = "", of: str = "", search: str = "") -> None:
        """Create the box.

        Args:
            names: the names to complete.
            empty: the text of an empty box.
            of: id of the box whose datalist is used; empty: a datalist of its own.
            search: URL that answers with the names with a typed text; empty: no further names.
        """
        attributes = {"autocomplete": "off", "class": "nc-completed"}
        super().__init__({**attributes, "placeholder": empty} if empty else attributes)
        self._names = names
        self._of = of
        self._search = "" if names.is_whole else search

    def render(
        self,
        name: str,
        value: Any,  # noqa: ANN401 - Django's signature
        attrs: Mapping[str, Any] | None = None,
        renderer: Any = None,  # noqa: ANN401 - Django's signature
    ) -> SafeString:
        """Return the box, and its datalist."""
        given = dict(attrs or {})
        list_id = f"{self._of or given.get('id', name)}_names"
        box = super().render(name, value, {**given, "list": list_id}, renderer)
        if self._of:
            return box
        options = format_html_join("", '<option value="{}" label="{}">', self._names.options)
        search = format_html(' data-search="{}"', self._search) if self._search else ""
        return format_html('{}<datalist id="{}"{}>{}</datalist>', box, list_id, search, options)


def widget(
    names: Names, *, chosen: str, empty: str = "choose", of: str = "", search: str = ""
) -> forms.Widget:
    """Return the widget for a field that takes one of the names.

    Args:
        names: the names.
        chosen: the present value of the field; a select offers it also if it is no known name.
        empty: the text of the empty choice.
        of: id of a box whose completion is used; empty: a completion of its own.
        search: as in `CompletedInput`.
    """
    if not names.is_whole or len(names.options) > FEW:
        return CompletedInput(names, empty=empty, of=of, search=search)
    is_known = not chosen or any(name == chosen for name, _ in names.options)
    own = [] if is_known else [(chosen, f"{chosen} (unknown)")]
    return UnfoldAdminSelectWidget(choices=[("", empty), *names.options, *own])


def producers() -> Names:
    """Return the producers by name."""
    return plain(Producer.objects.order_by("name").values_list("name", flat=True)[: MOST + 1])


def types(part: str = "") -> Names:
    """Return the notification types with a text in the name, with priority and category."""
    found = NotificationType.objects.filter(name__icontains=part).order_by("name")
    rows = found.values_list("name", "priority", "category")
    return of_options(
        (name, f"{name} ({', '.join(filter(None, [Priority(priority).name, category]))})")
        for name, priority, category in rows[: MOST + 1]
    )


def templates(part: str = "", *, is_published: bool = False) -> Names:
    """Return the templates with a text in the name; `is_published`: with a published version."""
    rows = Template.objects.filter(template_id__icontains=part).exclude(ONE_OFF)
    if is_published:
        rows = rows.exclude(published_at=None)
    found = rows.order_by("template_id").values_list("template_id", flat=True).distinct()
    return plain(found[: MOST + 1])


def of_options(options: Iterable[tuple[str, str]]) -> Names:
    """Return the first MOST options."""
    found = list(islice(options, MOST + 1))
    return Names(found[:MOST], len(found) <= MOST)


def plain(names: Iterable[str]) -> Names:
    """Return the first MOST names, shown as the names are."""
    return of_options((name, name) for name in names)
