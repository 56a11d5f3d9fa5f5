"""SMS pumping protection: ceilings of the P0 and P1 SMS to numbers, prefixes and countries.

    refusals      refuses posts above a ceiling
    holds         holds other SMS above a ceiling before the call
    counts        counts SMS in the state Redis (lua/)
    policy        the limits, the overrides and the usual traffic
    traffic_rows  the usual traffic in Postgres
    traffic_now   the traffic beside its ceilings, for the admin
    sweep         alerts, the learning of the usual traffic, the end of holds

The core keeps the countries to which a producer may send SMS.
"""
