"""Features: Django apps below `notifications.features` that plug into the core.

INSTALLED_APPS is the list of the features, and the app configuration of a feature is its manifest.
Django and Celery find models, admin pages, commands, tasks, templates and static files of an app
themselves. The manifest names the rest: URLs, facts for the OpenAPI document, sweeps,
retention of rows, gates, releases of held deliveries, adapters of channels, pages of the admin
without a model, parts of its other pages, entries of its menu, and pages that show the causes of
alerts. The core imports no feature; it reads the manifests. Without the line in INSTALLED_APPS the
service runs without the feature: its tables stay, and nothing of the feature reads or writes them.

Django loads the manifests before any model and in each process, so a manifest names modules and
functions by their dotted names, and the core imports them at the first use. The models of a feature
have the app label `notifications`, because all tables share the migrations of the core
(docs/decisions/0034-features-are-django-apps.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from django.apps import AppConfig, apps
from django.core.checks import Error
from django.utils.module_loading import import_string

from notifications.core.rules import alert_links
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.row_retention import RowRetention

if TYPE_CHECKING:
    from django.urls import URLPattern

_PACKAGE: Final = "notifications.features."


@dataclass(frozen=True, slots=True)
class FeatureSweep:
    """A sweep of a feature: see `sweeps.Sweep`."""

    name: str
    """A sweep of the core with the same name is replaced."""
    run: str
    """Dotted name of a function `run_once(*, now, limit) -> Swept`."""
    seconds: int
    """Interval in a new installation."""
    limit: int
    """Rows in a batch."""
    stops: str
    """The effect of switching the sweep off, for operators."""
    queue: str = ""
    """The queue of the task; empty: the queue of the core's sweeps."""
    work: str = ""
    """Name of a file in `sql/` of the feature with an expression that is true if the sweep has
    work (`sweep_work.Work.sql`); empty: beat sends the task at each interval."""


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """An entry of the admin's side menu: see `admin.menu.Item`."""

    group: str
    title: str
    _: KW_ONLY
    symbol: str
    """Name of the Material symbol."""
    model: str
    """Name of the model in lower case, whose view permission opens the page."""
    page: str = ""
    """Name of the page's URL; empty: the list of the model."""
    right: str = ""
    """Permission that opens the page, such as `change_recipient`; empty: the view permission."""
    is_folded: bool = False
    """True for a rare page, below "More"."""


class Feature(AppConfig):
    """Manifest of a feature. Each name is dotted; an empty value: the feature has none."""

    default_auto_field = "django.db.models.BigAutoField"
    needs: tuple[str, ...] = ()
    """Labels of the features whose modules the feature imports; `check` requires their lines."""
    urls: str = ""
    """Module with `urlpatterns`, at the root of the API. Its import adds the access rules: those of
    operations by `api.operation.routes`, that of another view by `rules.access.add`."""
    sign_in_urls: str = ""
    """Module with `urlpatterns` below `/admin/` that a browser opens without a sign-in."""
    admin_urls: str = ""
    """Module with `urlpatterns` of pages without a model, below `/admin/`; the views are wrapped in
    `admin_view` of the site."""
    accepts_tokens: bool = False
    """True: the service accepts recipient tokens; without such a feature it refuses each token."""
    openapi: str = ""
    """Module with `TAGS` and `PATH_PARAMETERS` for the OpenAPI document."""
    sweeps: tuple[FeatureSweep, ...] = ()
    retentions: tuple[RowRetention, ...] = ()
    """Tables whose rows are deleted at an age."""
    deletions: tuple[str, ...] = ()
    """Functions `(*, before, limit) -> int` for other deletions of rows older than the retention of
    notifications: they delete at most `limit` rows and return the number of deleted rows."""
    menu: tuple[MenuEntry, ...] = ()
    alert_pages: tuple[tuple[AlertKind, str], ...] = ()
    """Kind of an alert, and the path of the page that shows the cause: see `rules.alert_links`."""
    gates: Mapping[str, str] = MappingProxyType({})
    """Place in a list of the core -> function that holds, stops, refuses or
    reserves: see `gate`."""
    releases: Mapping[str, str] = MappingProxyType({})
    """Kind of switch -> function `(switch, *, limit, grace) -> int` that gives due times to at most
    `limit` deliveries that a resumed switch held, `grace` before the time at which they leave, and
    returns their number. Deliveries of other kinds leave by priority."""
    providers: tuple[str, ...] = ()
    """Functions `() -> providers.contract.Provider`, for adapters that need no setting."""
    brands: tuple[str, ...] = ()
    """One function `(producer_id) -> rules.brand.Brand`; None for `producer_id`: the brand of the
    installation."""
    opened: tuple[str, ...] = ()
    """Functions `(recipient_id, subjects)`, called after an app reported that its recipient opened
    messages; a subject is the id of a notification or of a delivery."""
    inbox_erasures: tuple[str, ...] = ()
    """Functions `(recipient_id) -> int` in place of `store.postgres.erasure.erase_inbox`."""
    erasures: tuple[str, ...] = ()
    """Functions `(recipient_ids)`, called in the transaction of an erasure after the locks of the
    recipients, for rows that no foreign key deletes."""
    recipient_cards: tuple[str, ...] = ()
    """Functions `(recipient, *, may_view) -> str` that return HTML for the page of a recipient;
    `may_view` tells if the operator may view a model, such as `delivery`."""
    delivery_notes: tuple[str, ...] = ()
    """Functions `(delivery, notification, *, has_page) -> str` that return HTML for the line of a
    delivery on the page of a message; with `has_page` the recipient has a page."""

    def url_patterns(self) -> list[URLPattern]:
        """Return the URL patterns; imports the views."""
        return _patterns(self.urls)

    def admin_url_patterns(self) -> list[URLPattern]:
        """Return the URL patterns of pages without a model; imports the pages."""
        return _patterns(self.admin_urls)

    def ready(self) -> None:
        """Add the links of alerts."""
        alert_links.add(self.alert_pages)


def _patterns(module: str) -> list[URLPattern]:
    return list(import_module(module).urlpatterns) if module else []


def missing_needs(**_options: object) -> list[Error]:
    """Return an error for each feature with a need that is not installed: a check of Django."""
    installed = all_features()
    labels = {each.label for each in installed}
    return [
        Error(
            f"{each.name} needs {_PACKAGE}{need}.",
            hint=f'Add "{_PACKAGE}{need}" to INSTALLED_APPS, or remove "{each.name}".',
            id="notifications.E002",
        )
        for each in installed
        for need in each.needs
        if need not in labels
    ]


def all_features() -> list[Feature]:
    """Return the manifests, in the order of INSTALLED_APPS.

    Raises:
        django.core.exceptions.AppRegistryNotReady: Django is not set up yet.
    """
    return [each for each in apps.get_app_configs() if isinstance(each, Feature)]


def accepts_tokens() -> bool:
    """Return True if a feature makes the service accept recipient tokens."""
    return any(each.accepts_tokens for each in all_features())


def path_of(folder: Path, name: str) -> Path:
    """Return a file of a folder of the core, or of the folder of a feature with the same name."""
    folders = [folder, *(Path(each.path) / folder.name for each in all_features())]
    paths = [each / name for each in folders]
    return next((path for path in paths if path.is_file()), paths[0])


def functions(field: str) -> list[Callable[..., Any]]:
    """Return the functions that a field of the manifests names, in the order of INSTALLED_APPS.

    Raises:
        ImportError: as `import_function`.
    """
    return [import_function(name) for each in all_features() for name in getattr(each, field)]


def import_function(name: str) -> Callable[..., Any]:
    """Return a function by its dotted name.

    Raises:
        ImportError: the module or the function does not exist; the message has the name.
    """
    found: Callable[..., Any] = import_string(name)
    return found
