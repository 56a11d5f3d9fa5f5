"""The error of a command."""


class Fault(Exception):
    """The command cannot go on; the message says what is wrong and what to do."""
