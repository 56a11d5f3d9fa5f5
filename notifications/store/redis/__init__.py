"""The state Redis: everything in it may be lost, and each module states what then happens.

state              connection, scripts (`lua/`), and the guard against an absent server
sent_ledger        outcomes of calls, so that a killed worker's calls are not repeated
metric_counters    counters for `/metrics`
sign_ins           failed sign-ins of operators
"""
