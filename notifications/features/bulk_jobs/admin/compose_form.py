"""The form of the composer, as the body of `POST /v1/bulk-jobs`, and faults beside the fields.

    typed values ──> ComposeForm ──> body ──> rules.request.parse ──> request or faults

The form has units that suit people (an hour, percent, minutes); the body has those of the API. The
form checks only that numbers are numbers: `request.parse` and `create` check the rest.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_lowercase
from typing import Any, Final

from django import forms
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from notifications.core.admin import names
from notifications.core.admin.fields import ChannelOrderField, parse_object
from notifications.core.models import Producer
from notifications.core.models.choices import MODES
from notifications.core.rules.bulk_job import UniqueBy
from notifications.core.rules.channels import Spread
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import FieldError
from notifications.core.rules.texts.variants import MAX_NAME
from notifications.features.audiences.admin import name_search
from notifications.features.bulk_jobs.admin import compose_text
from notifications.features.bulk_jobs.rules.request import MAX_VARIANTS, PRIORITIES, Metric
from providers.contract import Channel

VARIANTS: Final = tuple(ascii_lowercase[:MAX_VARIANTS])
"""Rows of the form for variants."""
VARIANT_PARTS: Final = ("name", "template", "template_variant", "percent")
TEMPLATE_FIELDS: Final = ("template_id", *(f"variant_{each}_template" for each in VARIANTS))
CHOSEN: Final[Mapping[str, str]] = {
    "name": "Give the job a name.",
    "producer": "Choose the producer.",
    "audience": "Choose the audience.",
    "type": "Choose the notification type.",
    "template_id": "Choose the template.",
    "start": "Choose the start.",
}
"""Field without a preset -> sentence for an empty field."""
MINUTE: Final = 60
HOUR: Final = 3_600
PERCENT: Final = 100
LIMITS: Final = ("failed", "bounced", "complained")
"""Shares of the sent messages that can abort a job."""
_AT: Final = "%Y-%m-%dT%H:%M"
_MOST: Final = 1e9
"""Largest number of a field, far above each limit: in seconds it is a number still."""
_FIELDS: Final[tuple[tuple[str, str], ...]] = (
    (r"/audience(?:/.*)?", "audience"),
    (r"/(?:scheduled_at|send_at_local)", "at"),
    (r"/(?:rate_per_second|spread_seconds)", "pace_number"),
    (r"/ttl_seconds", "ttl_hours"),
    (r"/winner/after_seconds", "winner_minutes"),
    (r"/winner(?:/metric)?", "winner_metric"),
    (r"/winner/sample_percent", "winner_sample"),
    (r"/test_group(?:/size)?", "test_group_size"),
    (r"/test_group/wait_seconds", "test_group_minutes"),
    (r"/abort_limits/(failed|bounced|complained|minimum)", r"abort_\1"),
    (r"/variants", "variant_a_name"),
    (r"/(variables|channels|metadata)(?:/.*)?", r"\1"),
)
"""JSON pointer of the body -> field of the form; other pointers have the name of the field."""


def _text(label: str, **more: Any) -> forms.CharField:  # noqa: ANN401 - options of the field
    attributes = more.pop("attrs", {})
    widget = UnfoldAdminTextInputWidget(attrs=attributes)
    return forms.CharField(label=label, required=False, widget=widget, **more)


def _number(label: str, **more: Any) -> forms.FloatField:  # noqa: ANN401 - as above
    widget = UnfoldAdminTextInputWidget(attrs={"type": "number", "step": "any", "min": "0"})
    return forms.FloatField(
        label=label, required=False, widget=widget, min_value=-_MOST, max_value=_MOST, **more
    )


def _whole(label: str, **more: Any) -> forms.IntegerField:  # noqa: ANN401 - as above
    widget = UnfoldAdminTextInputWidget(attrs={"type": "number", "step": "1", "min": "0"})
    return forms.IntegerField(label=label, required=False, widget=widget, **more)


def _choice(label: str, choices: Iterable[tuple[str, str]], **more: Any) -> forms.ChoiceField:  # noqa: ANN401 - as above
    return forms.ChoiceField(
        label=label, choices=list(choices), widget=UnfoldAdminSelectWidget, required=False, **more
    )


def _json(label: str, *, rows: int, **more: Any) -> forms.CharField:  # noqa: ANN401 - as above
    widget = UnfoldAdminTextareaWidget(attrs={"rows": rows, "spellcheck": "false"})
    return forms.CharField(label=label, required=False, widget=widget, **more)


class ComposeForm(forms.Form):
    """The fields of a bulk job in the units of people."""

    name = _text("Name", max_length=200, help_text="For lists and reports.")
    producer = forms.ModelChoiceField(
        Producer.objects.filter(
            is_active=True, priorities__overlap=[each.value for each in PRIORITIES]
        ).order_by("name"),
        widget=UnfoldAdminSelectWidget,
        empty_label="choose",
        error_messages={
            "invalid_choice": "This producer is switched off, or may not send P2 and P3. It is no"
            " valid choice."
        },
    )
    mode = forms.TypedChoiceField(
        choices=MODES,
        coerce=lambda value: Mode(int(value)),
        initial=Mode.LIVE.value,
        widget=UnfoldAdminSelectWidget,
        help_text="Test: recipients of test mode, and no real provider.",
    )
    audience = _json(
        "Audience expression as JSON",
        rows=8,
        help_text='Such as {"topic": "news"}, or {"everyone": true} for every recipient.',
    )
    type = _text("Notification type")
    priority = _choice(
        "Priority", [("", "of the type"), *((each.name, each.name) for each in PRIORITIES)]
    )
    text_from = _choice("Text", compose_text.SOURCES, initial="template")
    template_id = _text("Template")
    variables = _json("Variables", rows=3, help_text="A JSON object.")
    channels = ChannelOrderField(
        required=False, help_text="In order. Without a channel: the order of each recipient."
    )
    delivery = _choice(
        "Delivery",
        [(Spread.FIRST.value, "the first usable channel"), (Spread.ALL.value, "all channels")],
        initial=Spread.FIRST.value,
    )
    unique_by = _choice(
        "One message to",
        [
            (UniqueBy.ADDRESS.value, "each address"),
            (UniqueBy.RECIPIENT.value, "each recipient, also at a shared address"),
        ],
        initial=UniqueBy.ADDRESS.value,
    )
    ttl_hours = _number("Expires after hours", help_text="Empty: the default of the priority.")
    start = _choice(
        "Start",
        [
            ("", "choose"),
            ("now", "now"),
            ("utc", "at a time in UTC"),
            ("local", "on each recipient's clock"),
        ],
    )
    at = forms.DateTimeField(
        label="Date and time",
        required=False,
        input_formats=(_AT, "%Y-%m-%d %H:%M"),
        widget=UnfoldAdminTextInputWidget(attrs={"type": "datetime-local"}),
    )
    pace = _choice(
        "Rate",
        [
            ("", "as fast as the lane delivers"),
            ("rate", "messages an hour, at most"),
            ("spread", "spread over hours"),
        ],
    )
    pace_number = _number("Messages an hour, or hours")
    weight = _whole("Weight", initial=1, help_text="Share of a lane beside other bulk jobs.")
    holdout_percent = _whole("Holdout in percent", help_text="Recipients without a message.")
    winner_metric = _choice(
        "Winner by", [("", "no winner"), *((each.value, each.value) for each in Metric)]
    )
    winner_sample = _whole("Sample in percent")
    winner_minutes = _number("Choice after minutes")
    test_group_size = _whole("Size of the test group", help_text="Empty: no test group.")
    test_group_minutes = _number("Others follow after minutes")
    abort_failed = _number("Failed, percent")
    abort_bounced = _number("Bounced, percent")
    abort_complained = _number("Complained, percent")
    abort_minimum = _whole("From sent messages", help_text="Empty: 100.")
    metadata = _json("Metadata as JSON", rows=2)
    preview_user = _text("Preview as the user id", max_length=255)
    preview_locale = _text("Preview in the locale", max_length=35, attrs={"placeholder": "en"})
    job_id = forms.UUIDField(widget=forms.HiddenInput)
    confirmation = _text("Name of the bulk job", max_length=200, attrs={"autocomplete": "off"})

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401 - Django's signature
        super().__init__(*args, **more)
        for name, said in CHOSEN.items():
            self.fields[name].required = True
            self.fields[name].error_messages["required"] = said
        self.fields["template_id"].required = not self.writes_text
        self.fields |= compose_text.fields()
        for letter in VARIANTS:
            label = f"Variant {letter.upper()}"
            self.fields |= {
                f"variant_{letter}_name": _text(f"{label}, name", max_length=200),
                f"variant_{letter}_template": _text(f"{label}, template"),
                f"variant_{letter}_template_variant": _text(
                    f"{label}, variant of the template's texts",
                    max_length=MAX_NAME,
                    attrs={"placeholder": "the base texts"},
                ),
                f"variant_{letter}_percent": _whole(f"{label}, percent"),
            }

    @property
    def writes_text(self) -> bool:
        """True if the form has the text of the job, in place of a template."""
        return self._value("text_from") == compose_text.WRITTEN

    def offer_names(self) -> None:
        """Give the fields of types and templates the lists of existing names."""
        self.fields["type"].widget = names.widget(
            names.types(),
            chosen=self._value("type"),
            search=name_search.address("types", Mode.LIVE),
        )
        published = names.templates(is_published=True)
        for name in TEMPLATE_FIELDS:
            is_first = name == "template_id"
            self.fields[name].widget = names.widget(
                published,
                chosen=self._value(name),
                empty="choose" if is_first else "the template above",
                of="" if is_first else "id_template_id",
                search=name_search.address("templates", Mode.LIVE),
            )

    def _value(self, name: str) -> str:
        return str(self[name].value() or "")

    def clean_variables(self) -> dict[str, Any]:
        """Return the variables.

        Raises:
            ValidationError: the text is no JSON object.
        """
        return parse_object(self.cleaned_data["variables"])

    def clean_metadata(self) -> dict[str, Any]:
        """Return the metadata.

        Raises:
            ValidationError: the text is no JSON object.
        """
        return parse_object(self.cleaned_data["metadata"])

    def clean_audience(self) -> dict[str, Any]:
        """Return the audience expression; `features.audiences.rules` checks its content.

        Raises:
            ValidationError: the text is no JSON object.
        """
        return parse_object(self.cleaned_data["audience"])

    def clean(self) -> dict[str, Any]:
        """Check that a chosen start and rate have a value.

        Raises:
            ValidationError: never; the faults are at the fields.
        """
        data = super().clean() or self.cleaned_data
        if data.get("start") in {"utc", "local"} and not data.get("at") and "at" not in self.errors:
            self.add_error("at", "Give a date and a time.")
        if data.get("pace") and not data.get("pace_number") and "pace_number" not in self.errors:
            self.add_error("pace_number", "Give a number above 0.")
        if self.writes_text:
            compose_text.clean(self, data)
        return data

    def body(self) -> dict[str, Any]:
        """Return the body of the API for the fields without a fault; empty fields are left out."""
        data = {
            name: value
            for name, value in self.cleaned_data.items()
            if value not in (None, "", [], {})
        }
        made: dict[str, Any] = {"audience": {}, "name": "", "type": "", "template_id": ""}
        plain = (
            *("audience", "name", "type", "template_id", "priority", "variables", "delivery"),
            *("unique_by", "weight", "holdout_percent", "metadata"),
        )
        made |= {name: data[name] for name in plain if name in data}
        if "channels" in data:
            made["channels"] = [Channel(each).label for each in data["channels"]]
        if "ttl_hours" in data:
            made["ttl_seconds"] = round(data["ttl_hours"] * HOUR)
        if variants := [_variant(data, each) for each in _variant_letters(data)]:
            made["variants"] = variants
        return made | _schedule(data) | _comparison(data) | _limits(data)

    def fields_of(self, errors: Iterable[FieldError]) -> dict[str, str]:
        """Return field of the form -> sentences, for faults with pointers into the body.

        A fault without a field of its own stands at `name`, so that no fault is hidden.
        """
        variants = list(_variant_letters(self.cleaned_data))
        found: dict[str, str] = {}
        for error in errors:
            name, text = self._place_of(error, variants)
            found[name] = f"{found[name]}; {text}" if name in found else text
        if self.writes_text:
            found.pop("template_id", None)  # `compose_text.clean` named the fault of the text
        return found

    def _place_of(self, error: FieldError, variants: Sequence[str]) -> tuple[str, str]:
        """Return the field of a fault, and the sentence there."""
        name = _field_of(error.pointer, variants)
        if name not in self.fields:
            return "name", f"{error.pointer}: {error.detail}"
        inside = error.pointer.removeprefix(f"/{name}")
        is_inside = name in {"audience", "variables", "channels", "metadata"} and inside
        return name, f"{inside[1:]}: {error.detail}" if is_inside else error.detail


def _field_of(pointer: str, variants: Sequence[str]) -> str:
    if match := re.fullmatch(r"/variants/([0-9]+)(?:/(\w+))?", pointer):
        position, part = int(match[1]), (match[2] or "name").removesuffix("_id")
        return f"variant_{variants[position]}_{part}"
    for pattern, name in _FIELDS:
        if match := re.fullmatch(pattern, pointer):
            return match.expand(name)
    return pointer.removeprefix("/")


def _schedule(data: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    at: dt.datetime | None = data.get("at")
    if at is not None and data.get("start") == "utc":
        made["scheduled_at"] = at.astimezone(dt.UTC).isoformat()
    if at is not None and data.get("start") == "local":
        made["send_at_local"] = at.strftime(_AT)
    number: float | None = data.get("pace_number")
    if number is not None and data.get("pace") == "rate":
        made["rate_per_second"] = number / HOUR
    if number is not None and data.get("pace") == "spread":
        made["spread_seconds"] = round(number * HOUR)
    return made


def texts_shown(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the pairs of template and variant of its texts in a form, each once."""
    own = str(data.get("template_id") or "")
    rows = (_variant(data, each) for each in _variant_letters(data))
    pairs = ((row.get("template_id", own), row.get("template_variant", "")) for row in rows)
    return [pair for pair in dict.fromkeys([(own, ""), *pairs]) if pair[0]]


def _variant_letters(data: Mapping[str, Any]) -> list[str]:
    return [each for each in VARIANTS if _variant(data, each)]


def _variant(data: Mapping[str, Any], letter: str) -> dict[str, Any]:
    parts = {"template_id" if each == "template" else each: each for each in VARIANT_PARTS}
    row = {name: data.get(f"variant_{letter}_{part}") for name, part in parts.items()}
    return {name: value for name, value in row.items() if value not in {None, ""}}


def _comparison(data: Mapping[str, Any]) -> dict[str, Any]:
    if "winner_metric" not in data:
        return {}
    winner = {
        "metric": data["winner_metric"],
        "sample_percent": data.get("winner_sample"),
        "after_seconds": _seconds(data.get("winner_minutes")),
    }
    return {"winner": {name: value for name, value in winner.items() if value is not None}}


def _limits(data: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if "test_group_size" in data:
        wait = _seconds(data.get("test_group_minutes"))
        made["test_group"] = {"size": data["test_group_size"]}
        if wait is not None:
            made["test_group"]["wait_seconds"] = wait
    limits: dict[str, Any] = {
        name: data[f"abort_{name}"] / PERCENT for name in LIMITS if f"abort_{name}" in data
    }
    if limits and "abort_minimum" in data:
        limits["minimum"] = data["abort_minimum"]
    return made | ({"abort_limits": limits} if limits else {})


def _seconds(minutes: float | None) -> int | None:
    return None if minutes is None else round(minutes * MINUTE)
