"""Operators' accounts, groups and sessions. `migrate` creates and updates the groups of the roles.

Operators can end their own sessions; a superuser can end all sessions.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.contrib.sessions.models import Session
from django.db.models import (
    Case,
    Exists,
    ManyToManyField,
    OuterRef,
    QuerySet,
    When,
    prefetch_related_objects,
)
from django.http import HttpRequest
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from notifications.core import clock
from notifications.core.admin import base
from notifications.core.admin.actions import action, never, requires
from notifications.core.admin.audited import AuditedAdmin, name_of
from notifications.core.models import SignIn
from notifications.core.rules.roles import APPS, GROUP_PREFIX, RIGHTS
from notifications.core.store.postgres import audit, second_factors
from notifications.core.store.redis import sign_ins

for _model in (User, Group, TOTPDevice, StaticDevice):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)  # django-otp's page shows the secrets of all users

_SUPERUSERS_ONLY = ("is_superuser", "user_permissions")


@admin.register(User)
class UserAdmin(DjangoUserAdmin, AuditedAdmin):  # type: ignore[type-arg, misc]  # both classes annotate Django's options in their own way
    """Accounts. Groups give permissions; only superusers create or change superusers."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = (
        "username",
        "role",
        "is_active",
        "is_superuser",
        "second_factor",
        "recovery_codes",
        "single_sign_on",
    )
    list_filter = ("is_active", "is_superuser", "groups")
    filter_horizontal = ()
    actions = ("reset",)

    @display(description="Groups")
    def role(self, user: User) -> str:
        """Return the groups of the account."""
        return ", ".join(group.name for group in user.groups.all())

    @display(description="Recovery codes left")
    def recovery_codes(self, user: User) -> int:
        """Return the number of unused recovery codes."""
        return second_factors.recovery_codes_left(user)

    @display(description="Second factor", boolean=True)
    def second_factor(self, user: User) -> bool:
        """Return True if a second factor is set up."""
        return bool(TOTPDevice.objects.filter(user=user, confirmed=True).exists())

    @display(description="Single sign-on", boolean=True)
    def single_sign_on(self, user: User) -> bool:
        """Return True if an identity of the identity provider signs in to the account."""
        return bool(user.identities.all())

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Prefetch groups and identities."""
        rows: QuerySet[User] = super().get_queryset(request)
        return rows.prefetch_related("groups", "identities")

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Return the read-only fields; only a superuser gives permissions beyond groups."""
        shown = ("last_login", "date_joined", *super().get_readonly_fields(request, obj))
        return shown if request.user.is_superuser else (*shown, *_SUPERUSERS_ONLY)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return False for a superuser's account, unless the operator is a superuser."""
        if obj is not None and obj.is_superuser and not request.user.is_superuser:
            return False
        return bool(super().has_change_permission(request, obj))

    has_delete_permission = never  # an account is switched off: the audit log refers to the name
    has_reset_permission = requires("auth.change_user")

    @action("Reset the second factor", permissions=["reset"])
    def reset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Remove the second factor, for a lost phone. The next sign-in needs a password only."""
        chosen = [user for user in queryset if self.has_change_permission(request, user)]
        devices = TOTPDevice.objects.filter(user__in=chosen)
        codes = StaticDevice.objects.filter(user__in=chosen)
        with audit.changes(name_of(request), "reset_second_factor", devices, codes):
            for user in chosen:
                second_factors.remove(user)
        self.message_user(request, f"{len(chosen)} accounts reset.", messages.SUCCESS)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002, ANN401 - Django's signature
        """Audit the change of a password."""
        rows = User.objects.filter(pk=id)
        with audit.changes(name_of(request), "set_password", rows):
            return super().user_change_password(request, id, form_url)


class _RightsField(forms.ModelMultipleChoiceField[Permission]):
    """Rights by name: `May replay and discard dead letters`, `Can view alert`."""

    def label_from_instance(self, obj: Permission) -> str:
        """Return the name of the right."""
        return obj.name


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, AuditedAdmin):  # type: ignore[misc]  # as above
    """Groups. `migrate` overwrites the groups of the roles; create a separate group to deviate."""

    def formfield_for_manytomany(
        self,
        db_field: ManyToManyField[Any, Any],
        request: HttpRequest | None = None,
        **kwargs: Any,  # noqa: ANN401 - Django's signature
    ) -> Any:  # noqa: ANN401 - Django's signature
        """Return the rights that the admin checks, with the plainly named rights first."""
        if db_field.name == "permissions":
            plain = Case(When(codename__in=RIGHTS, then=0), default=1)
            kwargs["form_class"] = _RightsField
            kwargs["queryset"] = Permission.objects.filter(
                content_type__app_label__in=APPS
            ).order_by(plain, "name")
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Group | None:
        """Return the group with its rights: the name of each has the name of its content type."""
        group: Group | None = super().get_object(request, object_id, from_field)
        if group is not None:
            prefetch_related_objects([group], "permissions__content_type")
        return group

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Return True for superusers, except for the groups of the roles."""
        is_kept = obj is not None and obj.name.startswith(GROUP_PREFIX)
        return bool(request.user.is_superuser) and not is_kept

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return True for superusers."""
        return bool(request.user.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Return True for superusers, except for the groups of the roles."""
        return self.has_change_permission(request, obj)


@admin.register(SignIn)
class SignInAdmin(base.ReadOnlyAdmin):
    """Read-only list with an action to end sessions."""

    list_display = ("user", "state", "at", "seen_at", "address", "agent", "ended_by")
    list_select_related = ("user",)
    list_display_links = None
    sortable_by = ()
    actions = ("end",)

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:  # noqa: ARG002 - Django's signature
        """Return True for all operators; the queryset restricts the rows."""
        return bool(request.user.is_active and request.user.is_staff)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Return True for all operators."""
        return self.has_view_permission(request)

    def has_end_permission(self, request: HttpRequest) -> bool:
        """Return True if the operator may view sessions."""
        return self.has_view_permission(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SignIn]:
        """Return the operator's own sessions; all sessions for a superuser."""
        rows: QuerySet[SignIn] = super().get_queryset(request)
        alive = Session.objects.filter(pk=OuterRef("session_key"), expire_date__gt=clock.now())
        rows = rows.annotate(is_alive=Exists(alive))
        return rows if request.user.is_superuser else rows.filter(user_id=request.user.pk or 0)

    @display(description="State", label={"open": "success"})
    def state(self, row: SignIn) -> str:
        """Return `open`, `ended` or `expired`."""
        if row.ended_at is not None:
            return "ended"
        return "open" if row.is_alive else "expired"  # type: ignore[attr-defined]  # annotated above

    @action("End", permissions=["end"])
    def end(self, request: HttpRequest, queryset: QuerySet[SignIn]) -> None:
        """End sessions at once: the next request of a session needs a sign-in."""
        with audit.changes(name_of(request), "end_session", queryset):
            ended = sign_ins.end(queryset, by=name_of(request))
        self.message_user(request, f"{ended} sessions ended.", messages.SUCCESS)
