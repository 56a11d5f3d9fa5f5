"""The form of a switch: the names of the chosen kind, the reason and the duration."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from notifications.core import clock
from notifications.core.admin import names
from notifications.core.admin.names import Names
from notifications.core.delivery import routing
from notifications.core.models.choices import CHANNELS
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules.lane import LANES
from notifications.core.rules.switches import SwitchKind
from providers.contract import Channel

KINDS: Final = {
    SwitchKind.PRODUCER: "all messages of one producer",
    SwitchKind.TYPE: "the messages of one notification type",
    SwitchKind.TEMPLATE: "the messages with one template",
    SwitchKind.CHANNEL: "everything on one channel",
    SwitchKind.PROVIDER: "the calls of one provider; another provider of the channel goes on",
    SwitchKind.LANE: "one priority on one channel, such as p3.email",
}
"""Kind of a switch -> what the switch holds. The page of a bulk job pauses a bulk job."""
_NAMES: Final[Mapping[SwitchKind, Callable[[], Names]]] = {
    SwitchKind.PRODUCER: names.producers,
    SwitchKind.TYPE: lambda: names.types()._replace(is_whole=False),
    SwitchKind.TEMPLATE: names.templates,
    SwitchKind.CHANNEL: lambda: names.plain(channel.label for channel in Channel),
    SwitchKind.PROVIDER: lambda: names.plain(sorted(routing.providers_by_name())),
    SwitchKind.LANE: lambda: names.plain(lane.name for lane in LANES),
}
"""Kind -> the existing names; a request may have a type without a row."""
_DURATIONS: Final = (
    ("15", "15 minutes"),
    ("30", "30 minutes"),
    ("60", "1 hour"),
    ("240", "4 hours"),
    ("1440", "1 day"),
    ("", "until an operator resumes"),
)
"""Minutes of a pause, and the label."""


class SwitchForm(forms.Form):
    """The target, the reason and the duration of a switch of one kind."""

    kind = forms.ChoiceField(
        choices=[(kind.value, kind.value) for kind in KINDS], widget=forms.HiddenInput
    )
    value = forms.CharField(max_length=64)
    channel = forms.TypedChoiceField(
        label="Channel of the provider",
        choices=[("", "every channel"), *CHANNELS],
        coerce=lambda number: Channel(int(number)),
        empty_value=None,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    reason = forms.CharField(
        label="Why",
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text="Shown on each held delivery and in the audit log.",
    )
    minutes = forms.ChoiceField(
        label="For how long",
        choices=_DURATIONS,
        initial="30",
        required=False,
        widget=UnfoldAdminSelectWidget,
    )

    def __init__(self, kind: SwitchKind, *args: Any, **more: Any) -> None:  # noqa: ANN401 - Django's signature
        """Create the form of a kind, with the existing names of the kind."""
        super().__init__(*args, **more)
        if kind is not SwitchKind.PROVIDER:
            del self.fields["channel"]
        field = self.fields["value"]
        field.label = kind.value.capitalize()
        field.error_messages["required"] = f"Choose the {kind}."
        field.widget = names.widget(_NAMES[kind](), chosen=str(self["value"].value() or ""))
        if kind is SwitchKind.TYPE:
            field.help_text = "A request with a priority may have a type that is not in the list."

    def target(self) -> SwitchTarget:
        """Return the target of a valid form."""
        data = self.cleaned_data
        return SwitchTarget(
            kind=SwitchKind(data["kind"]), value=data["value"], channel=data.get("channel")
        )

    def expires_at(self) -> dt.datetime | None:
        """Return the end of the pause; None: until an operator resumes."""
        minutes = self.cleaned_data["minutes"]
        return clock.now() + dt.timedelta(minutes=int(minutes)) if minutes else None

    @property
    def duration(self) -> str:
        """Return the label of the chosen duration."""
        return dict(_DURATIONS)[self.cleaned_data["minutes"]]
