"""Runs the product's processes on one machine, for the demo and for scenario tests.

    programs       table of the programs: names, commands, ports, signs of readiness
    process        a running program: start, wait until ready, signal, kill, log
    leftovers      end of the processes of an earlier, killed supervisor
    process_group  restart of dead processes, and the stop of all processes in order
    keys           the demo's secrets, which the first run creates
    handle         stop and environment of the demo for a second terminal
    demo           the course of `make demo`

Production runs the commands of the table under an orchestrator (docker-compose.yml).
"""
