"""Django's backend for PostgreSQL, with sessions that refuse a commit which no standby confirmed.

base           the wrapper and the sessions; Django imports it by the name in `DATABASES`
hung_servers   tests of servers that accept statements and never answer
"""
