"""A second terminal finds the demo: it can stop the demo and run manage.py beside it."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

from notifyproj.devstack.supervisor import handle

_SETTINGS = {
    "DATABASE_URL": "postgresql://notify:a'b$c@127.0.0.1/notify",
    "NOTIFY_ROUTES": "email=smtp",
    "DEMO_ADMIN_PASSWORD": "x y",
    "HOME": "/root",
}


def test_a_shell_reads_the_variables_as_they_are(tmp_path: Path) -> None:
    handle.show(_SETTINGS, var=tmp_path)
    script = f'. {handle.env_file(tmp_path)}; printf "%s\\n" "$DATABASE_URL" "$DEMO_ADMIN_PASSWORD"'
    seen = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
    assert seen.stdout.splitlines() == [_SETTINGS["DATABASE_URL"], "x y"]
    assert "HOME" not in handle.env_file(tmp_path).read_text()


def test_nobody_else_can_read_them_and_they_go_with_the_demo(tmp_path: Path) -> None:
    old = handle.env_file(tmp_path)
    old.write_text("left by another run")
    old.chmod(0o644)
    handle.show(_SETTINGS, var=tmp_path)
    assert stat.S_IMODE(old.stat().st_mode) == 0o600
    handle.hide(var=tmp_path)
    assert not old.exists()


def test_only_a_demo_is_stopped(tmp_path: Path) -> None:
    assert handle.stop(var=tmp_path) == "No demo runs here."
    # This process wrote the file and is no demo: another program may have got the number.
    handle.show(_SETTINGS, var=tmp_path)
    assert handle.stop(var=tmp_path) == "No demo runs here."
    handle.env_file(tmp_path).write_text("")
    assert handle.stop(var=tmp_path) == "No demo runs here."
