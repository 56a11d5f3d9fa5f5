"""Runs the whole product on one machine: for the demo, and piece by piece for scenario tests.

    programs   what there is to run: one table, names, commands, ports, how each shows it is ready
    process    one running program: start, wait until ready, signal, kill, its log
    leftovers  what an earlier supervisor left running when it was killed
    crew       all of them: kept alive while we run, stopped in order at the end
    keys       the demo's secrets, made once
    handle     what a second terminal needs: stop it, its environment
    demo       the story of `make demo`, from nothing to the URLs

Production uses the table's commands under an orchestrator instead (docker-compose.yml).
"""
