"""A worker loads no view; a process without URLs loads the operations at the first use."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.architecture.repository import ROOT

_SCRIPT = """
import sys
from notifyproj import celery
celery.app.loader.import_default_modules()
loaded = {"rest_framework.views", "notifications.core.api.urls"} & set(sys.modules)
assert not loaded, loaded
from notifications.core.rules import access
from notifications.core.rules.language import variables
assert variables.has_preference_page(), "a worker writes no link to the preference page"
from notifications.core.rules.lane import Mode
assert access.useless(["suppressions:*", "recipients:*"], Mode.TEST) == ["suppressions:*"]
"""


def test_a_worker_loads_the_operations_only_for_the_rules_of_access() -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "notifyproj.settings"}
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
