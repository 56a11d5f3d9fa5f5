"""The product on one machine: for `make demo`, tests, benchmarks and chaos runs.

servers          PostgreSQL and Valkey from wheels
supervisor       start, supervision and stop of the product's processes
demo             the stories of `make demo`
child_process    start, log and stop of a process
ports            free ports on loopback
"""
