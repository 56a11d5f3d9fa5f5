"""Who gets a run's messages, and of which type: `python -m tests.chaos.people PEOPLE WEBHOOK_PORT`.

As a command it fills an empty database and prints the API key of a producer that may do anything.
"""

from __future__ import annotations

import sys
from typing import Final

import django

TEMPLATE: Final = "chaos_note"
TYPE: Final = "CHAOS"


def user_id(number: int) -> str:
    """The id of a person of the run."""
    return f"person-{number}"


def _main(people: str, webhook_port: str) -> None:
    django.setup()
    from tests.chaos import seed  # noqa: PLC0415 - its models need Django set up

    key = seed.fill(int(people), int(webhook_port))
    print(key)  # noqa: T201 - its caller reads it


if __name__ == "__main__":
    _main(*sys.argv[1:])
