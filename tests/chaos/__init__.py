"""The whole product under seeded faults, each accepted notification counted at the providers.

    make chaos KILLS=30 SEED=1      a seeded mix of kills and messages
    make chaos RUNS=one_worker      a named run; RUNS=all plays each of them but the long ones

    dice        chance from a seed, independent of the order of the draws
    plans       what a run posts and when, what it kills and when
    named       the runs that have names
    frozen_servers    the runs in which a server stands still
    long_runs   the runs that take long
    stand_in    the providers: a process that answers slowly and logs each call before that
    stage       servers, processes, people; what a fault does to them
    producer    a service that posts with idempotency keys and tries again
    drive       plays a plan on a stage; returns the facts
    memory      what each process has in memory, once a minute
    facts       what was posted, taken, killed, and what the database says at the end
    reconcile   pure: from facts to broken promises
    report      the table, and the timelines of what is broken

A run ends with 0 only when every promise of `reconcile` held.
"""
