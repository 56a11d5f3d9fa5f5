"""The commands of the documents: every page of `docs/`, README, and the README of each client.

A command is a line of a code block that begins with a program's name, perhaps behind `$ ` or
assignments. A block with the language `bash` runs in the test of the examples. `NOT_RUN` has every
other command, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
PAGES: Final = (
    *("README.md", "clients/python/README.md", "clients/typescript/README.md"),
    *("clients/go/README.md", "clients/java/README.md"),
    *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")),
)
_FENCE: Final = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_INDENTED: Final = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*\n)+", re.MULTILINE)
_SHELLS: Final = frozenset({"", "bash", "sh", "console"})
_PROGRAMS: Final = (
    *("createdb", "createuser", "curl", "docker", "dropdb", "export", "git", "go", "helm"),
    *("jar", "javac", "kubectl"),
    *("make", r"manage\.py", "npm", "npx", "openssl", r"pg_\w+", "pip", "psql", "python3?"),
    *(r"redis-cli", "systemctl", r"valkey-cli", "wget"),
)
_COMMAND: Final = re.compile(
    r"^\s*(?:\$ )?(?:\w+=(?:'[^'\n]*'|\"[^\"\n]*\"|\$\(|\S*)\s*(?:\\\n\s*)?)*"
    rf"((?:{'|'.join(_PROGRAMS)})(?= [^=]|$)(?:\\\n|[^\n])*)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Exemption:
    """Commands that no example's test runs."""

    page: str
    """Pattern of the pages."""
    command: str
    """Pattern of the commands' beginnings."""
    reason: str


NOT_RUN: Final = (
    Exemption(
        r"docs/start/",
        r"manage\.py (check_providers|send_one) ",
        "tests/management/test_first_messages.py runs them with a stand-in of the vendor",
    ),
    Exemption(
        r"docs/connect",
        r"manage\.py connect ",
        "tests/features/connect/test_page.py runs them with a stand-in of the vendor",
    ),
    Exemption(
        r"docs/moving",
        r"manage\.py (import_from|compare_sent) ",
        "tests/features/moving/test_page.py runs them with exports made by hand",
    ),
    Exemption(
        r"docs/failover-rabbitmq",
        r"systemctl (stop|start) rabbitmq-server ",
        "tests/scenarios/test_rabbitmq_nodes.py stops and starts nodes without systemd",
    ),
    Exemption(
        r"docs/start/",
        r"export NOTIFY_ROUTES=",
        "tests/management/test_first_messages.py gives the value to the demo's settings",
    ),
    Exemption(r"docs/api-guide", r"export NOTIFY_(URL|KEY)=", "the demo prints the values"),
    Exemption(r"README", r"make (demo|test) ", ".ci/run runs both; they start servers"),
    Exemption(r"docs/", r"make (demo|shell) ", "they need a mail server of the reader"),
    Exemption(r"clients/", r"(pip|npm|go|javac|jar) ", "the tests of the clients install them"),
    Exemption(
        r"docs/bulk-jobs", r"manage\.py bulk_job watch ", "no expander of this test ends the job"
    ),
    Exemption(
        r"docs/analytics",
        r"manage\.py recount_rollups ",
        "a fresh database has no past days",
    ),
    Exemption(
        r"docs/retention",
        r"manage\.py archive ",
        "tests/features/archive/test_command.py has days of an archive",
    ),
    Exemption(
        r"docs/sign-in",
        r"manage\.py link_identity ",
        "the account and the identity provider are the reader's",
    ),
    Exemption(
        r"docs/operations",
        r"(pg_dump|createdb|pg_restore|manage\.py migrate) ?",
        "they copy a database of production",
    ),
    Exemption(
        r"docs/operations",
        r"(pg_basebackup|cp|echo|touch|pg_ctl|psql|pg_resetwal) ",
        "tests/scenarios/test_restore.py does the same beside a product of its own",
    ),
    Exemption(r"docs/(deploy|upgrade|start/)", r"docker compose ", "a test has no Docker engine"),
    Exemption(r"docs/(deploy|upgrade)\.md", r"(kubectl|helm) ", "a test has no cluster"),
    Exemption(
        r"docs/deploy\.md",
        r"(git clone|curl \.\.\.|python3?|export DATABASE_URL=)",
        "tests/scenarios/test_first_start.py runs them beside servers of its own",
    ),
    Exemption(
        r"docs/deploy-systemd",
        r"(git|systemctl|curl|NOTIFY_KEY=) ?",
        "`make host` runs them on a host of its own",
    ),
    Exemption(
        r"docs/releasing",
        r"(git|docker|pip|npm|make) ",
        "a maintainer runs them once for a release; the tests of the packages build the clients",
    ),
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code of a page."""

    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Return the commands; none for another language than a shell's."""
        if self.language not in _SHELLS:
            return []
        return [" ".join(found[1].split()) for found in _COMMAND.finditer(self.text)]


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page, then the indented blocks."""
    text = (ROOT / page).read_text()
    for _, language, content in _FENCE.findall(text):
        yield Block(language, content)
    for found in _INDENTED.finditer(_FENCE.sub("", text)):
        yield Block("", found[0])


def script(page: str) -> list[Block]:
    """Return the blocks of a page that run."""
    return [block for block in blocks(page) if block.language == "bash"]
