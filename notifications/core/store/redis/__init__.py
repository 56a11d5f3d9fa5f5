"""The state Redis. All content may be lost; each module states the effect of a loss.

state              connection, scripts (`lua/`), and the guard against an absent server
sent_ledger        outcomes of calls, so that the calls of a killed worker are not repeated
unpublished        shares of rows that a relay has taken and not yet published
metric_counters    counters for `/metrics`
sign_ins           failed sign-ins of operators
last_receipts      the time of the last receipt of each provider
live_processes     the running processes and their figures
running_beats      the running beats, of which there should be one
reach              the newest reach
"""
