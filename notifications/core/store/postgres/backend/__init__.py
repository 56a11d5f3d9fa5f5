"""Django's backend for PostgreSQL, with sessions that refuse a commit which no standby confirmed.

Django imports `base` by the name in `DATABASES["default"]["ENGINE"]`.
"""
