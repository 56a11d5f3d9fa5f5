"""Runs the service without features: python -m tests.features.without_feature NAMES.

NAMES are labels with commas between them. The environment names the servers, and WITHOUT_DATABASE a
database with all tables. The program removes the features from the settings, starts Django,
checks, publishes a template, delivers a message and an e-mail, opens the links of the e-mail and of
the admin, cancels a message, erases the recipient, runs each sweep, opens each page of the menu and
the newest object of each list, and prints the facts of the run as JSON.

Right after the start of Django the program forks a process that makes the tables in the empty
database WITHOUT_EMPTY_DATABASE. An exception in either ends the program with a traceback.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import multiprocessing
import os
import re
import sys
from operator import ne
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import urlopen

import django
from django.conf import settings

from notifications.core import clock
from notifications.core.rules import access
from notifications.core.rules.lane import Mode
from notifications.core.rules.scopes import GRANTABLE
from providers.contract import Channel
from tests import static_files

if TYPE_CHECKING:
    from django.test import Client

    from notifications.core.models import Delivery


_SETTINGS: Final = Path(__file__).resolve().parents[2] / "notifyproj" / "settings.py"
PROVIDER: Final = {
    "NOTIFY_OIDC_ISSUER": "https://id.example.com",
    "NOTIFY_OIDC_CLIENT_ID": "notify",
    "NOTIFY_OIDC_CLIENT_SECRET": "a-secret",
    "NOTIFY_OIDC_ROLES": "oncall=operator",
}
"""Settings of an identity provider, for the environment of the program; no process calls it."""
_SIGN_IN: Final = "/admin/login/"
QUICK_HASHERS: Final = ["django.contrib.auth.hashers.MD5PasswordHasher"]
"""Django's own takes half a second for a password."""


def _set_up(names: list[str]) -> None:
    """Load the settings without the lines of the features, and start Django.

    Raises:
        SystemExit: the environment needs one of the features; the message says which.
    """
    source = _SETTINGS.read_text()
    for name in names:
        before, line, after = source.partition(f'    "notifications.features.{name}",\n')
        assert line, name
        source = before + after
    module = ModuleType("notifyproj.settings")
    module.__file__ = str(_SETTINGS)
    sys.modules[module.__name__] = module
    exec(compile(source, _SETTINGS, "exec"), module.__dict__)  # noqa: S102 - the project's own settings
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", module.__name__)
    settings.DATABASES["default"]["NAME"] = os.environ["WITHOUT_DATABASE"]
    settings.PASSWORD_HASHERS = QUICK_HASHERS
    django.setup()
    static_files.read_once()


def _caller() -> Client:
    """Return a client with a new key of the producer."""
    from django.test import Client  # noqa: PLC0415 - after Django is set up

    from notifications.core.models import Producer  # noqa: PLC0415 - as above
    from notifications.core.rules.lane import Mode  # noqa: PLC0415 - as above
    from notifications.core.store.postgres import api_keys  # noqa: PLC0415 - as above

    producer = Producer.objects.get(name="without")
    scopes = ("notifications:*", "templates:*", "recipients:*", "contacts:*", "erasures:*")
    _, secret = api_keys.issue(producer, mode=Mode.LIVE, scopes=scopes)
    return Client(headers={"Authorization": f"Bearer {secret}"})


def _publish(caller: Client, template: str) -> None:
    """Write and publish a template with a text of the inbox."""
    text = {"channel": "in_app", "locale": "en", "title": "Hello", "body": "Hello"}
    posts: dict[str, dict[str, Any]] = {
        "/v1/templates": {"template_id": template, "texts": [text]},
        f"/v1/templates/{template}/publish": {"version": 1},
    }
    for path, body in posts.items():
        answer = caller.post(path, body, content_type="application/json")
        assert answer.status_code in {200, 201}, answer.content


def _send(caller: Client, channel: Channel, **body: object) -> Delivery:
    """Post a notification; returns its delivery after one round of the worker's task."""
    from notifications.core.delivery import deliver  # noqa: PLC0415 - after Django is set up
    from notifications.core.models import Delivery  # noqa: PLC0415 - as above

    request = {"user_id": "leaving", "type": "WITHOUT", "channels": [channel.label], **body}
    answer = caller.post("/v1/notifications", request, content_type="application/json")
    assert answer.status_code == 202, answer.content
    deliver.deliver([row.id for row in Delivery.objects.filter(channel=channel)])
    return Delivery.objects.get(channel=channel)


def _cancel(caller: Client) -> str:
    """Cancel a notification of tomorrow; returns its status."""
    later = (clock.now() + dt.timedelta(days=1)).isoformat()
    request = {"user_id": "leaving", "type": "WITHOUT", "template_id": "links"}
    body = {**request, "channels": [Channel.EMAIL.label], "scheduled_at": later}
    answer = caller.post("/v1/notifications", body, content_type="application/json")
    assert answer.status_code == 202, answer.content
    path = f"/v1/notifications/{answer.json()['notification_id']}"
    cancelled = caller.post(f"{path}/cancel", {}, content_type="application/json")
    assert cancelled.status_code == 200, cancelled.content
    return str(caller.get(path).json()["status"])


def _open_links(mail: Delivery) -> dict[str, int]:
    """Return the status of each link in an e-mail and on the unsubscribe page, and of one-click."""
    from django.test import Client  # noqa: PLC0415 - after Django is set up

    sandbox = os.environ["NOTIFY_SANDBOX_URL"]
    with urlopen(f"{sandbox}/messages.json?delivery_id={mail.id}") as answer:  # noqa: S310 - loopback
        [message] = json.load(answer)["messages"]
    paths = [urlsplit(each).path for each in message["body"].split()]
    unsubscribe = urlsplit(message["unsubscribe_url"]).path
    page = Client().get(unsubscribe)
    paths += [unsubscribe, *re.findall(r'href="(/[^"]*)"', page.content.decode())]
    one_click = Client().post(unsubscribe, {"List-Unsubscribe": "One-Click"})
    opened = {path: Client().get(path).status_code for path in paths}
    return {**opened, "one-click": one_click.status_code}


def _sweep() -> dict[str, int]:
    from notifications.core import clock, sweeps  # noqa: PLC0415 - after Django is set up

    return {
        name: sweep.run_once(now=clock.now(), limit=sweep.limit).failed
        for name, sweep in sweeps.SWEEPS.items()
    }


def _inbox_pages() -> dict[str, int]:
    """Return the status of the public files and pages of the inbox, beside a file of the core."""
    from django.test import Client, override_settings  # noqa: PLC0415 - after Django is set up

    paths = ("/demo/inbox", "/embed/latest/notify-inbox.js", "/embed/latest/notify-push.js")
    with override_settings(DEMO_FOLDER=Path()):
        return {path: Client().get(path).status_code for path in paths}


def _operator() -> Client:
    """Return a client that has signed in with a password."""
    from django.test import Client  # noqa: PLC0415 - after Django is set up

    client = Client()
    answer = client.post(_SIGN_IN, {"username": "without", "password": "a-long-password"})
    assert answer.status_code == 302, answer.content
    return client


def _has_button() -> bool:
    """Return True if the sign-in page leads to single sign-on."""
    from django.test import Client  # noqa: PLC0415 - after Django is set up

    return b"/admin/single-sign-on/" in Client().get(_SIGN_IN).content


def _dead_links(template: str) -> dict[str, tuple[int, str]]:
    """Follow links of the menu, Overview, messages, the template's pages and a search for it."""
    from notifications.core.admin import menu  # noqa: PLC0415 - after Django is set up
    from notifications.core.admin.monitoring.links import subject_page  # noqa: PLC0415 - as above
    from notifications.core.models import Notification  # noqa: PLC0415 - as above
    from tests.admin import crawl  # noqa: PLC0415 - as above

    messages = Notification.objects.values_list("pk", flat=True)
    starts = [
        *(f"/admin/notifications/notification/{each}/change/" for each in messages),
        *filter(None, [subject_page("template", template)]),
        f"/admin/search/?s={template}",
        "/admin/live",
        *(menu.link(item) for item in menu.items()),
    ]
    return crawl.dead_links(_operator(), starts)


def _pages() -> dict[str, int]:
    from django.contrib import admin  # noqa: PLC0415 - after Django is set up
    from django.urls import reverse  # noqa: PLC0415 - as above

    from notifications.core.admin import menu  # noqa: PLC0415 - as above

    client = _operator()
    pages = [menu.link(item) for item in menu.items()]
    for model in admin.site._registry:
        lists = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        if newest := model._default_manager.order_by("pk").last():
            pages.append(reverse(f"{lists}_change", args=[newest.pk]))
    return {page: client.get(page).status_code for page in pages}


def scopes() -> dict[str, list[str]]:
    """Return the scopes that a user may grant who lacks a right, and those useless in a mode."""
    rights = frozenset[str]().union(*access.RIGHTS_OF_FEATURES.values()) | {"view_notification"}
    granted = {right: access.scopes_within(functools.partial(ne, right)) for right in rights}
    # A key keeps `brands:write`, which is of live mode, while the feature is not installed.
    common = [scope for scope in GRANTABLE if not scope.startswith("brands:")]
    return {**granted, **{mode.name: access.useless(common, mode) for mode in Mode}}


def _migrate(database: str) -> None:
    from django.core.management import call_command  # noqa: PLC0415 - after Django is set up

    settings.DATABASES["default"]["NAME"] = database
    call_command("migrate", verbosity=0)


def main(names: list[str]) -> None:
    """Run the service without features and print the facts."""
    _set_up(names)
    empty = os.environ["WITHOUT_EMPTY_DATABASE"]
    migration = multiprocessing.get_context("fork").Process(target=_migrate, args=[empty])
    migration.start()
    facts = _facts(names)
    migration.join()
    assert migration.exitcode == 0, "the traceback is above"
    print(json.dumps(facts))  # noqa: T201 - the parent reads it


def _facts(names: list[str]) -> dict[str, Any]:
    from django.core.management import call_command  # noqa: PLC0415 - after Django is set up

    from notifications.core.api import schema  # noqa: PLC0415 - as above
    from notifications.core.models import Alert  # noqa: PLC0415 - as above
    from notifications.core.rules import alert_links  # noqa: PLC0415 - as above
    from notifications.core.rules.alerts import AlertKind  # noqa: PLC0415 - as above
    from notifications.core.rules.states import Status  # noqa: PLC0415 - as above
    from notifications.core.store.postgres import alerts  # noqa: PLC0415 - as above
    from notifications.core.sweeps import SWEEPS  # noqa: PLC0415 - as above
    from notifyproj.celery import app  # noqa: PLC0415 - as above

    call_command("check")
    app.loader.import_default_modules()
    template = f"without_{names[0]}"  # of its own: a search is cached
    caller = _caller()
    _publish(caller, template)
    message = _send(caller, Channel.IN_APP, priority="P1", template_id=template)
    mail = _send(caller, Channel.EMAIL, priority="P2", template_id="links")
    facts: dict[str, Any] = {
        "sent": [(Status(each.status).name, each.reason) for each in (message, mail)],
        "inbox_pages": _inbox_pages(),
        "links": _open_links(mail),
        "dead_links": _dead_links(template),
        "cancelled": _cancel(caller),
        "has_button": _has_button(),
    }
    erased = caller.delete("/v1/recipients/leaving")
    assert erased.status_code == 202, erased.content
    facts |= {"failed": _sweep(), "pages": _pages()}
    facts["paths"] = sorted(schema.document()["paths"])
    alerts.resolve_removed(kinds=alert_links.kinds(), sweeps=SWEEPS)  # as `migrate` does
    opened = Alert.objects.filter(resolved_at=None)
    facts["open_alerts"] = sorted(opened.values_list("kind", flat=True).distinct())
    facts["linked"] = [each for each in AlertKind if alert_links.page_of(each, "12")]
    facts["tasks"] = sorted(each for each in app.tasks if each.startswith("sweep_"))
    facts["scopes"] = scopes()
    packages = tuple(f"notifications.features.{name}" for name in names)
    facts["loaded"] = [each for each in sys.modules if each.startswith(packages)]
    return facts


if __name__ == "__main__":
    main(sys.argv[1].split(","))
