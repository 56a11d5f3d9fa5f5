"""Existing names, for the lists and the completion in forms.

A form shows at most MOST names as a select. Of more names, a text box completes the first MOST, and
takes each other name as typed; the form's own check refuses an unknown name.
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

    def __init__(self, names: Names, *, of: str = "") -> None:
        """Create the box.

        Args:
            names: the names to complete.
            of: id of the box whose datalist is used; empty: a datalist of its own.
        """
        super().__init__({"autocomplete": "off", "class": "nc-completed"})
        self._names = names
        self._of = of

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
        return format_html('{}<datalist id="{}">{}</datalist>', box, list_id, options)


def widget(names: Names, *, chosen: str, empty: str = "choose", of: str = "") -> forms.Widget:
    """Return the widget for a field that takes one of the names.

    Args:
        names: the names.
        chosen: the present value of the field; a select offers it also if it is no known name.
        empty: the text of the empty choice.
        of: id of a box whose completion is used; empty: a completion of its own.
    """
    if not names.is_whole:
        return CompletedInput(names, of=of)
    is_known = not chosen or any(name == chosen for name, _ in names.options)
    own = [] if is_known else [(chosen, f"{chosen} (unknown)")]
    return UnfoldAdminSelectWidget(choices=[("", empty), *names.options, *own])


def producers() -> Names:
    """Return the producers by name."""
    return plain(Producer.objects.order_by("name").values_list("name", flat=True)[: MOST + 1])


def types() -> Names:
    """Return the notification types by name, with priority and category."""
    rows = NotificationType.objects.order_by("name").values_list("name", "priority", "category")
    return of_options(
        (name, f"{name} ({', '.join(filter(None, [Priority(priority).name, category]))})")
        for name, priority, category in rows[: MOST + 1]
    )


def templates(*, is_published: bool = False) -> Names:
    """Return the templates by name; with `is_published` those with a published version."""
    rows = Template.objects.all()
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
