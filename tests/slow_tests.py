"""The list of the slow tests: `make test` leaves them out, and `make test-all` runs every test.

They kill processes and wait for leases, drive a browser, compile a client, or try each operation of
the API.
Of the tests with killed processes, one for each class of failure stays in `make test`.

With several processes of pytest, a file runs in one of them, and each folder of SHARED runs in one:
the scenarios share a product, and wait while the other processes compute; the tests of the Python,
Go and Java clients share a web process and its database. Slow tests begin first.

`.ci/run` runs a third of the files with slow tests, another third on each of three days.
"""

from __future__ import annotations

import zlib
from typing import Final

import pytest
from xdist.scheduler import LoadScopeScheduling

SLOW: Final = (
    # Killed processes.
    "tests/scenarios/",
    "tests/chaos/test_chaos.py",
    # Compilers, npm and linters.
    "tests/clients/test_go.py::test_the_client_",
    "tests/clients/test_go.py::test_the_programs_",
    "tests/clients/test_java.py::test_the_client_",
    "tests/clients/test_java.py::test_the_programs_",
    "tests/clients/test_typescript.py",
    "tests/clients/test_npm_package.py",
    "tests/clients/test_react.py",
    "tests/architecture/test_openapi_page.py::test_the_linters_",
    # A process of the streams is killed, frozen and asked for a thousand streams.
    "tests/features/inbox/live/test_service.py",
    # Up to 600 pages of the admin.
    "tests/admin/test_roles.py::test_every_cell_of_the_lists",
    "tests/admin/test_links.py::test_no_link_of_an_admin_page_is_dead",
    # A browser.
    "tests/admin/test_alerts_browser.py",
    "tests/features/analytics/admin/test_browser.py",
    "tests/features/archive/admin/test_search.py::test_the_pages_suit_every_reader_at_each_size",
    "tests/admin/test_browser.py",
    "tests/features/bulk_jobs/admin/test_browser.py",
    "tests/admin/test_console_pages.py",
    "tests/admin/test_monitoring_browser.py",
    "tests/admin/test_page_weight.py",
    "tests/features/series/admin/test_editor_browser.py",
    "tests/features/series/admin/test_series_browser.py",
    "tests/features/single_sign_on/test_browser.py",
    "tests/admin/test_switches_browser.py",
    "tests/features/preference_page/test_browser.py",
    "tests/features/brands/test_browser.py",
    "tests/features/template_studio/admin/test_editor_browser.py",
    "tests/features/template_studio/admin/test_editor_page_blocks.py",
    "tests/features/inbox/test_sign_in.py",
    "tests/features/test_preference_component.py",
    "tests/features/test_web_push_browser.py",
    "tests/test_browser_wait.py",
    # Each operation of the API in turn, with many requests.
    "tests/api/test_access.py::test_a_test_key_changes_nothing_that_live_mode_reads",
    "tests/api/test_access.py::test_the_request_of_each_operation_succeeds_in_live_mode",
    "tests/api/test_audit.py::test_each_operation_that_changes_something_is_in_the_log",
    "tests/api/test_schema_fuzz.py",
    "tests/api/test_short_path.py::test_any_requests_are_answered_alike_and_leave_the_same",
    "tests/clients/python/test_docs_examples.py",
    "tests/features/test_erasure_everywhere.py::test_an_erased_person_is_nowhere",
    # The process of an archive is killed at ten steps; a program starts for each case.
    "tests/features/test_without_feature.py",
    "tests/features/archive/test_days_killed.py",
    "tests/test_celery_options.py",
    "tests/test_deploy_check.py",
    # Ten seconds or more: much computation, or a program for each case.
    "tests/architecture/test_grafana.py",
    "tests/clients/python/test_operations.py",
    "tests/clients/python/test_package.py",
    "tests/rules/texts/test_mail_styles.py::test_the_inliner_gets_no_more_than_its_share",
    "tests/rules/texts/test_mail_styles.py::test_twice_the_source_is_at_most_three_times_the_work",
    "tests/rules/texts/test_wording.py::test_no_filter_writes_a_character_into_an_sms",
    "tests/test_server_tls.py::test_a_connection_of_amqps_verifies_authority_and_host",
    "tests/test_wsgi.py",
    # Names and sentences of each module.
    "tests/architecture/test_prose.py",
)
"""Beginnings of the ids of slow tests, in the order in which the processes take them."""
CHOSEN: Final = {
    "killed worker": "test_killed_worker.py::test_killed_during_the_call_it_is_sent_again"
    "_with_the_same_key",
    "killed web process": "test_killed_web.py::test_what_was_committed_leaves_without_it",
    "lost broker": "test_lost_broker.py::test_all_queues_deleted_under_load",
    "lost database": "test_lost_database.py::test_a_restart_under_load_loses_nothing",
    "lost state": "test_lost_state.py::test_killed_under_load_it_loses_and_doubles_nothing",
    "frozen worker": "test_frozen_worker.py::test_another_worker_that_took_over_is_not_disturbed",
}
"""Class of failure -> the scenario that `make test` runs."""
_SCENARIOS: Final = "tests/scenarios/"
_IN_EACH_THIRD: Final = (
    "tests/architecture/",
    "tests/features/test_without_feature.py",  # has thirds of its own
)
SHARED: Final = (_SCENARIOS, "tests/clients/python/")
"""Folders whose tests share processes that take many seconds to start."""
_BESIDE: Final = {
    f"tests/clients/test_{language}.py": "tests/clients/python/" for language in ("go", "java")
}
"""File -> the folder of SHARED whose processes the tests of the file use."""
_ALONE: Final = frozenset({
    f"{_SCENARIOS}{name}.py"
    for name in (
        *("test_caddy", "test_certificate", "test_expand_kills", "test_first_start"),
        *("test_proxy_limits", "test_series_kills"),
    )
})
"""Files of these folders whose tests use none of the shared processes."""
_SECOND: Final = frozenset(
    f"{_SCENARIOS}{name}.py"
    for name in ("test_broker_switch", "test_four_of_each", "test_restore", "test_standby")
)
"""Long scenarios that share a second product, in another process."""


class Scheduling(LoadScopeScheduling):
    """Scheduling of pytest-xdist: a file, or a folder of SHARED without _ALONE, has one process."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        if path in _ALONE:
            return path
        if path in _SECOND:
            return "second product"
        path = _BESIDE.get(path, path)
        return next((folder for folder in SHARED if path.startswith(folder)), path)


def mark(items: list[pytest.Item]) -> None:
    """Mark the slow tests."""
    chosen = {_SCENARIOS + each for each in CHOSEN.values()}
    for item in items:
        if item.nodeid.startswith(SLOW) and item.nodeid not in chosen:
            item.add_marker(pytest.mark.slow)


def leave_out(items: list[pytest.Item], *, third: int) -> list[pytest.Item]:
    """Remove the marked tests of the files of the other thirds from `items`; returns them."""
    left = [each for each in items if each.get_closest_marker("slow") and not _is_of(each, third)]
    ids = {each.nodeid for each in left}
    items[:] = [each for each in items if each.nodeid not in ids]
    return left


def _is_of(test: pytest.Item, third: int) -> bool:
    path = test.nodeid.partition("::")[0]
    return path.startswith(_IN_EACH_THIRD) or third_of(path) == third


def third_of(path: str) -> int:
    """Return the third of a file: 0, 1 or 2."""
    return zlib.crc32(path.encode()) % 3


def slow_first(items: list[pytest.Item]) -> None:
    """Put the slow tests first, so that no process is left alone with them at the end."""
    items.sort(key=lambda item: _rank(item.nodeid))


def _rank(test: str) -> int:
    return next((at for at, start in enumerate(SLOW) if test.startswith(start)), len(SLOW))
