#!/usr/bin/env python
"""Django's command line: `manage.py help` lists the commands.

`manage.py init` runs before there are settings, so it does not go through Django.
"""

import os
import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["init"]:
        from notifyproj.first_start import command

        sys.exit(command.main(sys.argv[2:]))
    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    execute_from_command_line(sys.argv)
