"""Runs the product's processes on one machine, for the demo and for scenario tests.

    programs       table of the programs: names, commands, ports, signs of readiness
    process        a running program: start, wait until ready, signal, kill, log;
                   the processes of a run, and the end of those of a killed supervisor
    handle         stop and environment of the demo for a second terminal
    demo           the course of `make demo`, and its secrets

The processes are forks of the supervisor (`notifyproj.processes`). Production runs them under an
orchestrator, or as forks of `notifyproj.all_in_one` (docker-compose.yml).
"""
