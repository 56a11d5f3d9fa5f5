"""The active switches, read once a second per process."""

from __future__ import annotations

from django.db.models import Q

from notifications.core import clock
from notifications.core.models import Switch, Template
from notifications.core.rules.switches import ActiveSwitch, SwitchBoard, SwitchKind
from notifications.core.store.cached.ttl_cache import Fresh
from providers.contract import Channel


@Fresh
def current() -> SwitchBoard:
    """Return the active switches; a new version of a held template is held too."""
    rows = Switch.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=clock.now()), resumed_at=None
    )
    return SwitchBoard([_active(row) for row in rows])


def _active(row: Switch) -> ActiveSwitch:
    versions: frozenset[int] = frozenset()
    if row.kind == SwitchKind.TEMPLATE:
        pinned = Template.objects.filter(template_id=row.value)
        versions = frozenset(pinned.values_list("pk", flat=True))
    return ActiveSwitch(
        id=row.pk,
        kind=SwitchKind(row.kind),
        value=row.value,
        reason=row.reason,
        until=row.expires_at,
        channel=None if row.channel is None else Channel(row.channel),
        producer_id=row.producer_id,
        versions=versions,
    )


forget = current.forget
