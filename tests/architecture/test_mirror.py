"""The path of a test file is the path of the module that the file tests."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[2]
_CODE: Final = ("notifications/core", "notifications", "notifyproj", "")
"""Folders in which a path below `tests` may begin; `providers` is at the top."""

_FOLDERS: Final = {
    "admin": "a file for each page, and a page has several modules",
    "api": "a file for each operation, and an operation has several modules",
    "architecture": "rules about all code",
    "benchmarks": "figures, not tests",
    "chaos": "a program with tests of its own",
    "clients": "the client libraries, each with an own layout",
    "features": "a feature that several stages share",
    "gameday": "a program with tests of its own",
    "management": "a file for each task of an operator, with several commands",
    "scenarios": "a promise of docs/guarantees.md, with workers",
}
"""Folders that do not mirror the code, each with the reason."""

_FILES: Final = {
    "providers/push/test_http2.py": "the transport over HTTP/2, with the push tests' certificate",
    "providers/push/test_push_contract.py": "three vendors against the contract",
    "providers/test_answer_classes.py": "each vendor that answers alone, by class of answer",
    "providers/sms/gateways/test_presets.py": "the files *.toml of the package",
    "providers/sms/test_sms_contract.py": "three vendors against the contract",
}
"""Files in mirrored folders that have no module of their own, each with the reason."""


def _names_code(path: str) -> bool:
    """Return whether a path, such as `delivery/settle`, is a module or a package."""
    places = [_ROOT / base / path for base in _CODE]
    return any(
        each.with_suffix(".py").is_file() or (each / "__init__.py").is_file() for each in places
    )


def _mirrors(test: Path) -> bool:
    """Return whether the module of a test exists.

    `test_send_limits.py` tests an aspect of `send.py`, and `ses/test_calls.py` a part of `ses.py`.
    """
    words = test.stem.removeprefix("test_").split("_")
    stems = ("_".join(words[:count]) for count in range(len(words), 0, -1))
    folder = test.parent.as_posix()
    is_part = any((_ROOT / base / f"{folder}.py").is_file() for base in _CODE)
    return is_part or any(_names_code(f"{folder}/{stem}") for stem in stems)


def _mirrored_tests() -> list[Path]:
    tests = _ROOT / "tests"
    found = (each.relative_to(tests) for each in sorted(tests.glob("*/**/test_*.py")))
    return [each for each in found if each.parts[0] not in _FOLDERS]


def test_each_test_file_names_a_module_or_a_package() -> None:
    lost = {each.as_posix() for each in _mirrored_tests() if not _mirrors(each)}
    assert lost == set(_FILES)


def test_each_folder_that_does_not_mirror_the_code_exists() -> None:
    assert [name for name in _FOLDERS if not (_ROOT / "tests" / name).is_dir()] == []


def test_a_test_without_a_module_is_found() -> None:
    assert _mirrors(Path("delivery/test_settle.py"))
    assert _mirrors(Path("delivery/test_settle_late.py"))
    assert _mirrors(Path("providers/email/ses/test_calls.py"))
    assert not _mirrors(Path("delivery/test_gone.py"))
    assert not _mirrors(Path("gone/test_settle.py"))
