"""SMS pumping protection, decided without I/O.

SMS pumping (artificially inflated traffic, AIT) is a fraud: a bot asks for codes to numbers of a
range with a share of the price of an SMS for the owner. P0 and P1 SMS have ceilings:

    address            the SMS to a number in 10 minutes
    prefix             the SMS to numbers with the same first seven digits in 10 minutes
    country            the SMS of all producers to a country in an hour
    producer_country   the SMS of a producer to a country in an hour

ceilings     the ceilings of a number, from limits, baselines and overrides
baselines    the usual traffic of the last four weeks
"""
