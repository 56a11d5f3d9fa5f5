"""`python -m notifyproj.all_in_one`: the processes of a small installation in one container.

    programs    table of the processes: command lines, signs of health
    supervisor  start, supervision, restart and stop of the processes, which are forks
    output      lines of the processes on standard output, with the name of the process

The supervisor loads the app once and forks web, live, the workers, beat and Flower, which share the
pages of memory that no process changes (`notifyproj.processes`). PostgreSQL, the two Valkeys and
the proxy are other containers: docker-compose.yml, profile `small`.
"""
