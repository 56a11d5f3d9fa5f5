"""The form of a new series: producer, mode and name."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from pydantic import TypeAdapter, ValidationError
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from notifications.core.admin import names
from notifications.core.intake.validation import Caller
from notifications.core.models import Producer
from notifications.core.models.choices import MODES
from notifications.core.rules import request_faults
from notifications.core.rules.lane import Mode
from notifications.core.rules.request import Name
from notifications.features.series import versions

_NAME: Final[TypeAdapter[str]] = TypeAdapter(Name)


class NewSeriesForm(forms.Form):
    """The fields of a new series beside the definition."""

    producer = forms.ModelChoiceField(
        Producer.objects.filter(is_active=True).order_by("name"),
        to_field_name="name",
        help_text="The messages are sent in the name of the producer.",
        widget=UnfoldAdminTextInputWidget,
    )
    mode = forms.TypedChoiceField(
        choices=MODES,
        coerce=lambda value: Mode(int(value)),
        widget=UnfoldAdminSelectWidget,
    )
    name = forms.CharField(
        help_text="Unique for the producer; letters, digits and _ . : -",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - Django's signature
        """Offer the producers."""
        super().__init__(*given, **named)
        field = self.fields["producer"]
        chosen = str(self["producer"].value() or "")
        field.widget = names.widget(names.producers(), chosen=chosen)

    def clean_name(self) -> str:
        """Check the name as the API does.

        Raises:
            forms.ValidationError: the name has other characters, or is too long.
        """
        try:
            return _NAME.validate_python(self.cleaned_data["name"])
        except ValidationError as error:
            raise forms.ValidationError(request_faults.invalid(error).errors[0].detail) from error

    def caller(self) -> Caller | None:
        """Return the chosen producer as the caller; None without a known producer and mode."""
        self.is_valid()
        producer, mode = self.cleaned_data.get("producer"), self.cleaned_data.get("mode")
        if producer is None or mode is None:
            return None
        return versions.caller_of(producer, mode)
