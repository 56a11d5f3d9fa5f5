"""Django's own checks for a deployment find nothing with settings as in production."""

from __future__ import annotations

import os
import subprocess
import sys


def test_check_deploy_is_clean() -> None:
    environ = os.environ | {
        "NOTIFY_PUBLIC_URL": "https://notify.example.com",
        "NOTIFY_SECRET_KEY": "0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 2,
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout
