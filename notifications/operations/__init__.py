"""Operations: actions started by operators.

replay             replays dead letters as new deliveries, in jobs
test_send          sends the text of a draft template in test mode
single_call        sends a message through an adapter, without rows
suppression_csv    imports and exports the suppression list
connect            checks and repairs a provider's account, reads its lists
"""
