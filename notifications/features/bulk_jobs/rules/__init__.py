"""Bulk jobs: one message to an audience, expanded in pages, at a rate.

figures       totals, statuses, progress, rate and expected end of a job; limits that abort
              a job; the progress as text, for a terminal
job_sentence  a job in words: who gets what, when and how fast
left_out      recipients without a message, and the reason
pace          the time of each message, and the rows that each job of a lane may create
request       the body of a new job
results       the results of a job in words; the test of the difference of variants
schedule_text the schedule of a job in words
variants      recipients by variant, recipients without a message; the best variant
zones         the start time of each timezone
"""
