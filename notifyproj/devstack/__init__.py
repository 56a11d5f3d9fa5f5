"""The product on one machine: for `make demo`, tests, benchmarks and chaos runs.

servers          PostgreSQL and Valkey from wheels
supervisor       the product's processes, started, watched and stopped
demo             the stories of `make demo`
child_process    one process that is started, logged and stopped
ports            free ports on loopback
"""
