"""Addresses on admin pages: masked, until an operator with the right opens one address.

The page of a contact or of a suppression shows the masked address. The button "Show the address"
opens the same page with the address in full, and writes an audit entry. A list never shows an
address in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

from django.contrib.admin.utils import unquote
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.decorators import display

from notifications.core.admin.actions import action
from notifications.core.admin.audited import AuditedAdmin, name_of
from notifications.core.models import Contact, Suppression
from notifications.core.rules import masking
from notifications.core.store.postgres import audit

_ASK: Final = ("show", "address")
"""Query parameter of a page that shows the address in full."""


def may_see(request: HttpRequest) -> bool:
    """Return True if the operator may see addresses in full."""
    return bool(request.user.has_perm("notifications.see_addresses"))


def text_for(request: HttpRequest, text: str) -> str:
    """Return a text of a message; addresses in the text are masked for most operators."""
    return text if may_see(request) else masking.mask_text(text)


def masks_by_id(contact_ids: Iterable[int | None]) -> dict[int, str]:
    """Return the masked addresses of the existing contacts, by contact id."""
    wanted = {each for each in contact_ids if each is not None}
    found = Contact.objects.filter(pk__in=wanted).values_list("pk", "address", "channel")
    return {contact: masking.mask(address, channel) for contact, address, channel in found}


class MaskedAddressAdmin(AuditedAdmin):
    """A page of rows with the columns `channel` and `address`; see `address_field`."""

    actions_detail: Sequence[str] = ("show_address",)  # type: ignore[assignment]  # unfold types its default, an empty tuple

    @display(description="Address")
    def masked_address(self, row: Model) -> str:
        """Return the masked address."""
        found = cast("Contact | Suppression", row)
        return masking.mask(found.address, found.channel)

    def has_reveal_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Return True if the operator may see addresses."""
        del object_id
        return may_see(request)

    @action("Show the address", permissions=["reveal"], url_path="address", icon="visibility")
    def show_address(self, request: HttpRequest, object_id: int) -> HttpResponse:  # noqa: ARG002 - unfold's signature
        """Open the page with the address in full."""
        name, value = _ASK
        page = reverse(f"admin:notifications_{self.opts.model_name}_change", args=[object_id])
        return HttpResponseRedirect(f"{page}?{name}={value}")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - Django's own annotation
        """Audit each opening of a page with an address in full."""
        if object_id is not None and request.method == "GET" and _is_shown(request):
            row = self.get_object(request, unquote(object_id))
            if row is not None and self.has_view_permission(request, row):
                audit.record(name_of(request), "see_address", row, after={"seen": True})
        return super().changeform_view(request, object_id, form_url, extra_context)

    def address_field(self, request: HttpRequest, obj: Model | None) -> str:
        """Return `address` for a new row or an address in full, else `masked_address`."""
        return "address" if obj is None or _is_shown(request) else "masked_address"

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401 - Django's signature
        """Add the masked address."""
        return (*super().get_readonly_fields(request, obj), "masked_address")


def _is_shown(request: HttpRequest) -> bool:
    name, value = _ASK
    return request.GET.get(name) == value and may_see(request)
