"""The form of a brand."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from notifications.features.brands import checks
from notifications.features.brands.models import Brand


class LinksField(forms.CharField):
    """Links, one a line: the label, and the URL as the last word."""

    widget = UnfoldAdminTextareaWidget

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Convert stored links to lines; return a typed text unchanged."""
        if not isinstance(value, list):
            return value
        return "\n".join(f"{each['label']} {each['url']}" for each in value)

    def clean(self, value: Any) -> list[dict[str, str]]:  # noqa: ANN401 - Django's signature
        """Convert lines to links.

        Raises:
            ValidationError: a line has one word alone.
        """
        found = []
        for number, line in enumerate(filter(None, map(str.strip, _lines(value))), start=1):
            label, _, url = line.rpartition(" ")
            if not label:
                raise ValidationError(
                    f"Line {number} needs a label and a URL, such as: Help https://shop.example"
                )
            found.append({"label": label.strip(), "url": url})
        return found

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's signature
        """Compare stored links with a typed text."""
        return super().has_changed(self.prepare_value(initial), data)


class BrandForm(forms.ModelForm[Brand]):
    """The form of a brand, with the checks of the API."""

    links = LinksField(
        required=False,
        help_text="One link a line: the label, then the https URL, such as Help"
        " https://shop.example/help. At most five.",
    )

    class Meta:
        """A colour has the browser's picker beside the code."""

        model = Brand
        fields = (
            *("producer", "name", "logo_url", "logo_alt", "color", "font", "footer"),
            *("postal_address", "website_url", "links"),
            *("sender_name", "sender_address", "reply_to"),
        )
        widgets: ClassVar[dict[str, forms.Widget]] = {
            "color": UnfoldAdminTextInputWidget(attrs={"type": "color"})
        }

    def clean(self) -> dict[str, Any]:
        """Return the values in the stored form, with a sentence for each fault."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        given = {name: value for name, value in cleaned.items() if value is not None}
        values = checks.normalize(given)
        for field, fault in checks.faults(values):
            if field not in self.errors:
                self.add_error(field, f"{self[field].label} {fault}.")
        return {**cleaned, **{name: values[name] for name in cleaned if name in values}}


def _lines(value: object) -> list[str]:
    return str(value or "").splitlines()
