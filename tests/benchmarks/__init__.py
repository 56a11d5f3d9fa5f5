"""The numbers of docs/benchmarks.md, each against a baseline that the same run measures.

    make bench              all of them
    make bench ONLY=name    one

Machines drift by a factor of two within minutes, so an absolute figure says little: a benchmark
runs A B A B A B, and what counts is the median of the pairs' ratios.

    figures     what a benchmark answers: a table, and var/bench/<name>.json
    stage       real servers, the product's own processes, a sink that stands for the provider
    load        a producer's service that posts as fast as it is answered
    costs       CPU seconds and memory by component, from /proc
    plain       the baseline: Celery as it comes, with a task that does nothing
    <name>      one file for each number; its docstring says what is measured

What is measured is the product: its processes as `notifyproj.devstack.supervisor.programs` lists
them, its HTTP API, its provider adapter over HTTP. Postgres commits durably (fsync and
synchronous_commit stay on). Only the provider is fast: nginx, answering from memory. The servers
are ours alone and their tables are emptied; DATABASE_URL and the like are not looked at.
"""
