"""Runs the product's processes on one machine, for the demo and for scenario tests.

    programs       table of the programs: names, commands, ports, signs of readiness
    app            the app, loaded once for all processes, which are forks of the supervisor
    process        a running program: start, wait until ready, signal, kill, log;
                   the processes of a run, and the end of those of a killed supervisor
    handle         stop and environment of the demo for a second terminal
    demo           the course of `make demo`, and its secrets

Production runs the commands of the table under an orchestrator (docker-compose.yml).
"""
