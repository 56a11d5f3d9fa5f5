"""Store: bulk SQL and Redis scripts; the only writers. Every step takes a list.

postgres       tables: rows, statements (`sql/`), transitions of a status
redis          the state Redis: scripts (`lua/`), the sent-ledger, counters for `/metrics`
cached         small tables that operators edit, read again each second
rate_limits    everything that limits: breakers, provider rates, producers, caps, addresses
templates      versions of templates and their cache in each process
"""
