"""[console] The slowest page of the admin with ten million notifications in ninety days.

Django's client requests each page of the menu, the page of a message and of a recipient, and the
searches of the activity list, as a superuser, in the process of the benchmark. A page is requested
once to warm up and then five times; the number of a page is the median, and the note has the least
beside it, which is nearer to the truth on a machine with other work. The history is the one of
[history_cost], with further rows: open dead letters and deliveries of today behind a breaker.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Final
from urllib.parse import urlencode

from django.test import Client
from django.urls import reverse

from notifications.core.rules import ids
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from tests.benchmarks import history_cost, rows
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage

_ROWS: Final = 10_000_000
_DEAD_LETTERS: Final = 50_000
_HELD: Final = 50_000
_TIMES: Final = 5
_TARGET_MS: Final = 300
_SHOWN: Final = 60
_NAME: Final = "console-benchmark"
_BURY: Final = """
    INSERT INTO notifications_deadletter (delivery_id, mode, priority, channel, producer_id,
                                          recipient_id, provider, reason, detail, snapshot,
                                          created_at, resolution)
    SELECT gen_random_uuid(), 1, 2, 1 + n %% 3, 1, 1, 'sandbox',
           (ARRAY['permanent', 'retries_exhausted', 'ttl_exceeded'])[1 + n %% 3], '400: refused',
           '{"user_id": "user-1", "type": "OLD", "variables": {}}',
           now() - n * interval '3 seconds', ''
    FROM generate_series(1, %s) AS n
"""


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run(())
    days, wanted = history_cost.old_days(), stage.size(_ROWS)
    history_cost.build(stage, days, rows=wanted)
    try:
        with stage.database() as link:
            link.execute(_BURY, [_DEAD_LETTERS])
            rows.write(link, _HELD, priority=Priority.P1, status=Status.SCHEDULED, reason="breaker")
            link.execute("ANALYZE notifications_deadletter")
        first = ids.floor_of(days[-1]).hex[:12] + "70008000"
        times = dict(_measure_pages(f"{first}{1:09x}000"))
    finally:
        with stage.database() as link:
            link.execute("DELETE FROM notifications_deadletter")
        stage.clear()
        history_cost.drop(stage, days)
    found = {page: median(spent) for page, spent in times.items()}
    slowest = sorted(found, key=lambda page: -found[page])
    return Figure(
        name="console",
        value=found[slowest[0]],
        unit=f"ms, slowest of {len(found)} pages, {wanted:,} notifications",
        target=f"< {_TARGET_MS} ms",
        met=found[slowest[0]] < _TARGET_MS,
        notes=tuple(
            f"{found[page]:.0f} ms, least {min(times[page]):.0f} ms: {page}"
            for page in slowest[:_SHOWN]
        ),
    )


def _measure_pages(message: str) -> Iterator[tuple[str, list[float]]]:
    """Yield the pages, each with the measured times in milliseconds."""
    from django.contrib.auth.models import User  # noqa: PLC0415 - needs Django set up

    client = Client(SERVER_NAME="127.0.0.1")
    user = User.objects.create_superuser(_NAME)
    try:
        client.force_login(user)
        for name, path in _pages(message).items():
            _request(client, path)
            yield name, [_request(client, path) for _ in range(_TIMES)]
    finally:
        user.delete()


def _request(client: Client, path: str) -> float:
    begin = time.perf_counter()
    answer = client.get(path)
    spent = 1000 * (time.perf_counter() - begin)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status_code}")
    return spent


def _pages(message: str) -> Mapping[str, str]:
    """Return the pages: name -> path with query."""
    activity = reverse("admin:notifications_activity")  # loads the URLs, which load the admin
    from notifications.core.admin import menu  # noqa: PLC0415 - needs Django set up
    from notifications.core.models import Contact, Recipient  # noqa: PLC0415 - as above

    person = Recipient.objects.get(user_id="user-7")
    searches = {
        "a user": {"q": "user-7"},
        "an address": {"q": Contact.objects.filter(recipient=person)[0].address},
        "an id": {"q": message},
        "the beginning of an id": {"q": message[:12]},
        "an order number that exists": {"q": "ORD-1"},
        "an order number that does not exist": {"q": "ORD-404"},
        "a rare status": {"status": str(Status.BOUNCED.value)},
        "a rare type": {"type": "NONE"},
    }
    named = {item.title: menu.link(item) for item in menu.items()}
    named |= {f"Activity, {name}": f"{activity}?{urlencode(q)}" for name, q in searches.items()}
    unknown = urlencode({"status__exact": Status.UNKNOWN.value, "within": "quarter"})
    palette = urlencode({"s": "user-7", "extended": "1"})
    return named | {
        "Search box": f"{reverse('admin:search')}?{palette}",
        "Unknown deliveries": f"{reverse('admin:notifications_delivery_changelist')}?{unknown}",
        "Message": reverse("admin:notifications_notification_change", args=[message]),
        "Recipient": reverse("admin:notifications_recipient_change", args=[person.pk]),
        "Replay a group": f"{reverse('admin:notifications_deadletter_replay')}?reason=permanent",
    }
