"""`manage.py init`: from a checkout to a service with an administrator and an API key.

    command          the arguments, and the order of the steps
       |
    first_settings   asks four questions and writes .env         (needs no settings and no server)
    with_servers     the steps that need Django's settings:
        servers      checks the database, the state Redis and the broker
        first_rows   creates the administrator, the notification types and the first live key

    answers          checks of the answers, by the validators of each start
    certificate      checks of the proxy's certificate
    env_file         reads and writes .env
    terminal         questions and lines

Each step is safe to repeat: a step changes nothing that exists. The command runs before
Django's settings can be loaded, so `manage.py` starts `command` and not Django.
"""
