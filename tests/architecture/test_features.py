"""The core stands alone: features plug into the core by manifests; the core names no feature."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import AnonymousUser
from django.db.models import Model
from django.test import RequestFactory
from django.urls import reverse
from django.utils.module_loading import import_string

import notifications
from notifications.core import feature, gate
from notifications.core.feature import Feature
from notifications.core.gate import Place
from notifications.core.rules.access import (
    RIGHTS_OF_FEATURES,
    AccessRule,
    complete,
    path_of,
    rule_of,
)
from notifications.core.rules.lane import EXPAND
from notifications.core.rules.scopes import Scope
from notifications.core.rules.switches import SwitchKind

_CODE: Final = Path(notifications.__file__).parent
_FEATURES: Final = _CODE / "features"
_OF_TABLES: Final = r"\b(?:FROM|JOIN|INTO|UPDATE|USING|TABLE|ONLY)\s+\"?{}\b"
_METHODS: Final = ("GET", "POST", "PUT", "DELETE")
_HOOKS: Final = ("providers", "opened", "inbox_erasures", "recipient_cards", "delivery_notes")
FEATURES: Final = {each.label: each for each in feature.all_features()}


def _owner(model: type[Model]) -> str:
    """Return the feature in whose folder a model is; empty: a model of the core or a library."""
    found = re.match(r"notifications\.features\.(\w+)\.", model.__module__)
    return found[1] if found else ""


def _rules(found: Feature) -> list[AccessRule]:
    """The rules of the paths of a feature."""
    paths = {f"/{path_of(str(each.pattern))}" for each in found.url_patterns()}
    return [rule for rule in complete() if rule.operation.split()[1] in paths]


def _statements(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.sql")):
        if "migrations" not in path.parts:
            yield path.name, re.sub(r"--.*", "", path.read_text())


def _foreign_tables(statement: str, *, of_feature: str) -> set[str]:
    """Return the tables of other features that a statement names, without its own parts."""
    parts = set(re.findall(r"\b(\w+)\s+AS\s+(?:NOT\s+)?(?:MATERIALIZED\s*)?\(", statement))
    return {
        table
        for model in apps.get_models()
        if _owner(model) not in {"", of_feature}
        for table in {model._meta.db_table} - parts
        if re.search(_OF_TABLES.format(table), statement, re.IGNORECASE)
    }


def test_each_folder_is_an_installed_feature() -> None:
    folders = {each.parent.name for each in _FEATURES.glob("*/__init__.py")}
    assert folders == set(FEATURES)
    assert all(each.name == f"notifications.features.{each.label}" for each in FEATURES.values())


@pytest.mark.parametrize("found", FEATURES.values(), ids=FEATURES)
def test_each_name_of_the_manifest_exists_in_the_feature(found: Feature) -> None:
    lists = (found.deletions, found.releases.values(), *(getattr(found, each) for each in _HOOKS))
    admin.autodiscover()  # a module with parts of pages belongs to the pages
    functions = [*(each.run for each in found.sweeps), *(name for each in lists for name in each)]
    functions += found.gates.values()
    modules = [found.urls, found.admin_urls, found.sign_in_urls, found.openapi]
    named = [each for each in (*functions, *modules) if each]
    assert [each for each in named if not each.startswith(f"{found.name}.")] == []
    assert all(callable(import_string(each)) for each in functions)
    if found.sign_in_urls:
        assert import_string(f"{found.sign_in_urls}.urlpatterns")
    if found.openapi:
        assert import_string(f"{found.openapi}.TAGS") is not None
    assert set(found.releases) <= set(SwitchKind)
    assert {each.queue for each in found.sweeps} <= {"", EXPAND}


@pytest.mark.parametrize("found", FEATURES.values(), ids=FEATURES)
def test_each_page_without_a_model_asks_for_a_sign_in(found: Feature) -> None:
    request = RequestFactory().get("/admin/")
    request.user = AnonymousUser()
    for each in found.admin_url_patterns():
        values = dict.fromkeys(each.pattern.converters, "1")
        answer = each.callback(request, **values, **each.default_args)
        assert answer.headers["Location"].startswith(reverse("admin:login")), each


@pytest.mark.parametrize("found", FEATURES.values(), ids=FEATURES)
def test_a_feature_needs_the_features_that_it_imports(found: Feature) -> None:
    named = re.compile(r"^\s*(?:from|import) notifications\.features\.(\w+)", re.MULTILINE)
    modules = (_FEATURES / found.label).rglob("*.py")
    imported = {name for path in modules for name in named.findall(path.read_text())}
    assert imported - {found.label} == set(found.needs)


def test_a_check_names_the_missing_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert feature.missing_needs() == []
    installed = [FEATURES["bulk_jobs"], FEATURES["cancel_jobs"], FEATURES["series"]]
    monkeypatch.setattr(feature, "all_features", lambda: installed)
    [error] = feature.missing_needs()
    assert error.msg == "notifications.features.bulk_jobs needs notifications.features.audiences."
    assert error.hint is not None
    assert '"notifications.features.audiences" to INSTALLED_APPS' in error.hint


def test_each_place_of_a_gate_is_in_a_list_and_is_taken_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert gate.wrong_places() == []
    code = [path.read_text() for path in _CODE.rglob("*.py") if path.name != "gate.py"]
    for place in Place:
        assert sum(f"*function_at(Place.{place.name})" in each for each in code) == 1, place
        assert gate.is_taken(place)

    series, digests = FEATURES["series"], FEATURES["digests"]
    monkeypatch.setattr(series, "gates", {"digest": "a.b", "digests": "a.b"})
    monkeypatch.setattr(feature, "all_features", lambda: [series, digests])
    taken, unknown = "'digest', which another feature has, too.", "'digests', which does not exist."
    assert [error.msg for error in gate.wrong_places()] == [
        f"notifications.features.series has a gate for the place {taken}",
        f"notifications.features.series has a gate for the place {unknown}",
        f"notifications.features.digests has a gate for the place {taken}",
    ]


@pytest.mark.parametrize("found", FEATURES.values(), ids=FEATURES)
def test_each_operation_of_a_feature_has_its_own_rule(found: Feature) -> None:
    rules = _rules(found)
    for pattern in found.url_patterns():
        route = str(pattern.pattern)
        assert any(rule_of(method, route) in rules for method in _METHODS), route


def test_the_core_knows_the_rights_that_the_scopes_of_features_need() -> None:
    needed = defaultdict[Scope, set[str]](set)
    for found in FEATURES.values():
        for rule in _rules(found):
            if isinstance(rule.needs, Scope) and rule.right:
                needed[rule.needs].add(rule.right)
    assert needed == RIGHTS_OF_FEATURES


def test_no_statement_names_a_table_of_another_feature() -> None:
    core = [each for each in _statements(_CODE) if not _is_of_feature(each[0])]
    assert len(core) > len(FEATURES)
    found = {name: _foreign_tables(text, of_feature="") for name, text in core}
    for label in FEATURES:
        for name, text in _statements(_FEATURES / label):
            found[name] = _foreign_tables(text, of_feature=label)
    assert {name: tables for name, tables in found.items() if tables} == {}


def _is_of_feature(name: str) -> bool:
    return any(_FEATURES.glob(f"*/sql/{name}"))


def test_the_core_runs_no_statement_of_a_feature() -> None:
    names = "|".join(path.stem for path in _FEATURES.glob("*/sql/*.sql"))
    core = [each for each in _CODE.rglob("*.py") if _FEATURES not in each.parents]
    assert [each for each in core if re.search(f'"({names})"', each.read_text())] == []


def test_the_core_runs_no_script_of_a_feature() -> None:
    names = "|".join(path.stem for path in _FEATURES.glob("*/lua/*.lua"))
    core = [each for each in _CODE.rglob("*.py") if _FEATURES not in each.parents]
    assert [each for each in core if re.search(rf'call\(\s*"({names})"', each.read_text())] == []


@pytest.mark.parametrize("suffix", ["sql", "lua"])
def test_the_names_of_statements_and_scripts_are_unique(suffix: str) -> None:
    names = [each.name for each in _CODE.rglob(f"*.{suffix}") if "migrations" not in each.parts]
    assert len(names) == len(set(names))


def test_no_model_refers_to_a_model_of_another_feature() -> None:
    found = [
        f"{model.__name__}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if field.concrete and field.related_model and not isinstance(field.related_model, str)
        if _owner(field.related_model) not in {"", _owner(model)}
    ]
    assert found == []


def test_a_statement_that_names_a_table_of_a_feature_is_found() -> None:
    statement = "SELECT 1 FROM notifications_recipient JOIN series_enrolment USING (id)"
    assert _foreign_tables(statement, of_feature="") == {"series_enrolment"}
    assert _foreign_tables(statement, of_feature="series") == set()
