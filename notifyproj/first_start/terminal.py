"""Questions and lines of `manage.py init`."""

from __future__ import annotations

import getpass
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

_LOOK_SECONDS: Final = 0.2
"""Longest time from Ctrl-C to its effect."""
_ENDED: Final = "The input ended before the answer: run the command again, or give {}."


class Refused(Exception):
    """The command cannot go on; the message names the fault and the cure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and the flag that answers the question for a script."""

    flag: str
    text: str
    check: Callable[[str], str]
    """Returns the answer in its final form, or raises ValueError with the fault in words."""
    default: str = ""


def printable(text: str) -> str:
    """Return a text without spaces at both ends.

    Raises:
        ValueError: the text is empty, or has a line break, a control character or invalid UTF-8.
    """
    text = text.strip()
    if not text:
        raise ValueError("An answer is needed.")
    if not text.isprintable():
        raise ValueError("The answer has a character that cannot be printed; remove it.")
    return text


class Terminal:
    """Asks a person at a terminal, or takes the answers from flags only.

    Args:
        asks: whether a person can answer. Without a person a missing flag ends the command.
    """

    def __init__(self, *, asks: bool) -> None:
        self.asks = asks

    def say(self, text: str = "") -> None:
        """Print a line."""
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def answer(self, question: Question, *, given: str | None) -> str:
        """Return the checked answer: `given`, or that of a person, or the default of the question.

        Raises:
            Refused: the given answer is wrong, or nobody can answer.
        """
        if given is None and not self.asks and not question.default:
            raise Refused(
                f"{question.flag} is missing, and there is no terminal for the question"
                f" ({question.text})."
            )
        if given is None and self.asks:
            return self._ask(question)
        try:
            return question.check(printable(question.default if given is None else given))
        except ValueError as error:
            raise Refused(f"{question.flag}: {error}") from None

    def _ask(self, question: Question) -> str:
        hint = f" [{question.default}]" if question.default else ""
        while True:
            typed = self._read(f"{question.text}{hint}: ", flag=question.flag)
            try:
                return question.check(printable(typed.strip() or question.default))
            except ValueError as error:
                self.say(f"  {error}")

    def password(self, text: str, *, flag: str) -> str:
        """Return a password that a person types without echo; spaces at both ends stay.

        Raises:
            Refused: nobody can answer.
        """
        if not self.asks:
            raise Refused(f"{flag} is missing, and there is no terminal for the question ({text}).")
        while True:
            try:
                with _heeding_ctrl_c():
                    typed = getpass.getpass(f"{text}, not shown: ")
            except EOFError:
                raise Refused(_ENDED.format(flag)) from None
            except UnicodeDecodeError:
                typed = ""
            if typed and typed.isprintable():
                return typed
            self.say(
                "  A password has at least one character, no control characters, and is in the"
                " encoding of the terminal."
            )

    def confirm(self, text: str, *, flag: str) -> bool:
        """Return True if a person answers yes; without a person False."""
        if not self.asks:
            return False
        return self._read(f"{text} [y/N]: ", flag=flag).strip().lower() in {"y", "yes"}

    def _read(self, prompt: str, *, flag: str) -> str:
        """Return the typed line.

        Raises:
            Refused: the input has ended.
        """
        try:
            with _heeding_ctrl_c():
                return input(prompt)
        except EOFError:
            self.say()
            raise Refused(_ENDED.format(flag)) from None
        except UnicodeDecodeError:
            return "\0"  # `printable` refuses the answer, and the question follows again


@contextmanager
def _heeding_ctrl_c() -> Iterator[None]:
    """Interrupt a waiting read again and again, so that Python handles a signal before the read.

    A Ctrl-C between the prompt and the read has no effect until the read ends. Python handles
    signals when a system call is interrupted.
    """
    before = signal.signal(signal.SIGALRM, lambda _number, _frame: None)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_SECONDS, _LOOK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
