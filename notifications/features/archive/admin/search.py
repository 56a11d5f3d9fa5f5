"""Search of the archive: a form for an id, a user or a key, and the messages with their timelines.

The form is sent by POST, because a user id belongs into no address and no access log. The audit log
records each search, without the user id and the key. Without the right to see addresses, personal
values are hidden.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.http import HttpRequest, HttpResponse
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from notifications.core.admin import addresses, base
from notifications.core.admin.audited import name_of
from notifications.core.models import Producer
from notifications.core.rules import masking
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import audit
from notifications.features.archive import find, personal
from notifications.features.archive.find import ArchivedNotification, Period
from notifications.features.archive.keys import UnreadableKey
from notifications.features.archive.personal import Unreadable
from notifications.features.archive.targets import ArchiveUnavailable
from providers.contract import Channel

SHOWN: Final = 50
"""Messages on the page; a period shortens the answer."""
_CRITERIA: Final = ("notification", "user_id", "key")


class SearchForm(forms.Form):
    """One of notification id, user id and idempotency key; mode and period."""

    notification = forms.UUIDField(
        label="Id of a notification or delivery", required=False, widget=UnfoldAdminTextInputWidget
    )
    user_id = forms.CharField(
        label="User id", max_length=255, required=False, widget=UnfoldAdminTextInputWidget
    )
    key = forms.CharField(
        label="Idempotency key", max_length=255, required=False, widget=UnfoldAdminTextInputWidget
    )
    mode = forms.TypedChoiceField(
        label="Mode",
        choices=[(mode.value, mode.label) for mode in Mode],
        initial=Mode.LIVE.value,
        coerce=lambda number: Mode(int(number)),
        widget=UnfoldAdminSelectWidget,
    )
    since = forms.DateField(
        label="First day",
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="UTC, such as 2026-01-31; empty: no limit. For user id and key.",
    )
    until = forms.DateField(
        label="Last day", required=False, widget=UnfoldAdminTextInputWidget, help_text="As above."
    )

    def clean(self) -> dict[str, Any]:
        """Check the number of criteria.

        Raises:
            forms.ValidationError: none or several of id, user id and key.
        """
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors and sum(bool(values.get(name)) for name in _CRITERIA) != 1:
            raise forms.ValidationError("Give an id, a user id or an idempotency key: one of them.")
        return values

    def criterion(self) -> str:
        """Return the name of the field that was filled."""
        return next(name for name in _CRITERIA if self.cleaned_data[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedMessage:
    """An archived notification with texts."""

    id: str
    title: str
    facts: Mapping[str, object]
    personal_values: Mapping[str, str]
    is_erased: bool
    deliveries: list[dict[str, Any]]
    attempts: list[dict[str, Any]]
    events: list[dict[str, Any]]


def show(model_admin: Any, request: HttpRequest) -> HttpResponse:  # noqa: ANN401 - the ModelAdmin of another module
    """Show the form, and after a POST the messages. The caller has checked the right."""
    form = SearchForm(request.POST or None)
    messages: list[ArchivedMessage] | None = None
    if request.method == "POST" and form.is_valid():
        try:
            messages = _search(form, request)
        except (ArchiveUnavailable, Unreadable, UnreadableKey) as error:
            form.add_error(None, f"The archive was not read: {error}")
    context = {
        "form": form,
        "messages_found": messages,
        "is_cut": messages is not None and len(messages) == SHOWN,
        "shown": SHOWN,
        "may_see": addresses.may_see(request),
    }
    title = "Search the archive"
    return base.page(model_admin, request, "archive/search.html", title=title, context=context)


def _search(form: SearchForm, request: HttpRequest) -> list[ArchivedMessage]:
    """Read the archive, and write the audit entry before the page is shown."""
    found = list(itertools.islice(_find(form), SHOWN))
    criterion = form.criterion()
    by_id = criterion == "notification"
    audit.record_about(
        name_of(request),
        "read_archive",
        object_type="archive",
        name=str(form.cleaned_data["notification"]) if by_id else "",
        after={"criterion": criterion, "notifications": len(found)},
    )
    pks = {each.notification["producer_id"] for each in found}
    producers = dict(Producer.objects.filter(pk__in=pks).values_list("pk", "name"))
    return [_message(each, producers, request) for each in found]


def _find(form: SearchForm) -> Iterator[ArchivedNotification]:
    values = form.cleaned_data
    mode, period = values["mode"], Period(since=values["since"], until=values["until"])
    match form.criterion():
        case "notification":
            found: Iterable[ArchivedNotification] = find.by_notification(values["notification"])
        case "user_id":
            found = find.by_user(values["user_id"], mode=mode, period=period)
        case _:
            found = find.by_key(values["key"], period=period)
    return (each for each in found if each.notification["mode"] == mode)


def _message(
    found: ArchivedNotification, producers: Mapping[int, str], request: HttpRequest
) -> ArchivedMessage:
    row = found.notification
    return ArchivedMessage(
        id=row["id"],
        title=f"{row['type']} of {row['created_at']:%Y-%m-%d %H:%M:%S} UTC",
        facts={
            "Id": row["id"],
            "Producer": producers.get(row["producer_id"], "a producer that was removed"),
            "Mode": Mode(row["mode"]).label,
            "Priority": Priority(row["priority"]).name,
            "Category": row["category"],
            "Expired": f"{row['expires_at']:%Y-%m-%d %H:%M:%S} UTC",
        },
        personal_values={
            name.replace("_", " ").capitalize(): _personal(row[name], request)
            for name in personal.NAMES
            if row.get(name)
        },
        is_erased=bool(row.get("erased")),
        deliveries=[
            {**each, "status": Status(each["status"]), "channel": Channel(each["channel"])}
            for each in found.deliveries
        ],
        attempts=_with_details(found.attempts, request),
        events=_with_details(
            ({**each, "status": _status(each["status"])} for each in found.events), request
        ),
    )


def _status(number: int | None) -> Status | None:
    """Return the status of an event; None: an event without a change of status, such as a click."""
    return None if number is None else Status(number)


def _personal(value: object, request: HttpRequest) -> str:
    if not addresses.may_see(request):
        return masking.HIDDEN
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _with_details(lines: Iterable[dict[str, Any]], request: HttpRequest) -> list[dict[str, Any]]:
    return [
        {**each, "detail": addresses.text_for(request, str(each.get("detail", "")))}
        for each in lines
    ]
