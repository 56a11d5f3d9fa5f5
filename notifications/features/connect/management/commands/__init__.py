"""The command of connect."""
