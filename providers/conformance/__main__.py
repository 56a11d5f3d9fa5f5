"""Check an adapter from outside this project.

    python -m providers.conformance acme_sms:subject

`acme_sms:subject` names a function without arguments that returns a context manager of a
`Subject`; the command calls it for each check. The command prints a line for each check.

Exit status: 0 if the adapter keeps the contract, 1 if a check failed, 2 if there is no Subject.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Final

from providers.conformance.checks import CHECKS
from providers.conformance.subject import Subject

MakeSubject = Callable[[], AbstractContextManager[Subject]]

_USAGE: Final = 2
_FORM: Final = (
    "Name a function without arguments that returns a context manager of a"
    " providers.conformance.Subject, as package.module:function"
    " (providers/ADDING_A_PROVIDER.md has an example)."
)


class NoSubject(Exception):
    """The argument does not lead to a Subject; the message says why."""


def main(arguments: list[str] | None = None) -> int:
    """Run each check on a Subject of its own, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m providers.conformance", description="Check the adapter of a provider."
    )
    parser.add_argument("subject", metavar="MODULE:FUNCTION", help=_FORM)
    target = parser.parse_args(arguments).subject
    try:
        make = _function(target)
        failed = sum(not _holds(check, make) for check in CHECKS)
    except NoSubject as error:
        print(f"{target}: {error} {_FORM}", file=sys.stderr)
        return _USAGE
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} checks passed.")
    return 1 if failed else 0


def _function(target: str) -> MakeSubject:
    module, _, name = target.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise NoSubject(f"{type(error).__name__}: {error}.") from error
    if not callable(found):
        raise NoSubject(f"{name} is no function.")
    made: MakeSubject = found
    return made


def _holds(check: Callable[[Subject], None], make: MakeSubject) -> bool:
    context = _context(make)
    with context as subject:
        if not isinstance(subject, Subject):
            raise NoSubject(f"the context manager yields {type(subject).__name__}, no Subject.")
        try:
            check(subject)
        except Exception as error:  # noqa: BLE001 - an adapter may raise anything; the next check goes on
            print(f"FAILED  {check.__name__}: {type(error).__name__}: {error}")
            return False
    print(f"passed  {check.__name__}")
    return True


def _context(make: MakeSubject) -> AbstractContextManager[Subject]:
    try:
        context = make()
    except TypeError as error:
        raise NoSubject(f"{error}.") from error
    if not isinstance(context, AbstractContextManager):
        raise NoSubject(f"the function returns {type(context).__name__}, no context manager.")
    return context


if __name__ == "__main__":
    sys.exit(main())
