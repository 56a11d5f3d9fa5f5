"""Processes that a supervisor forks: those of the demo (`devstack`) and of `all_in_one`.

app      the app, loaded once for all processes, which are forks of the supervisor
forked   a process as a fork of its parent
leader   a process that leads a session: end, signals, kill
command  command lines of the processes, for an interpreter or a fork
"""
