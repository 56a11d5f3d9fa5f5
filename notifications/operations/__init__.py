"""Operations: what operators start.

replay             dead letters as new deliveries, one job at a time
test_send          the text of a draft template, as a notification in test mode
single_call        one message through one adapter, without rows
suppression_csv    import and export of the suppression list
"""
