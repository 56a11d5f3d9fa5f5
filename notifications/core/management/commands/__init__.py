"""Management commands, a module per command; `manage.py help` lists the commands."""
