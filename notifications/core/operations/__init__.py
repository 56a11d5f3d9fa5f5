"""Operations: actions started by operators.

replay             replays dead letters as new deliveries, in jobs
withdraw           cancels a notification, and removes shown pushes by withdrawal_calls
resend             sends a notification on another channel, or a copy to an operator
sent_content       renders the text of a message again
single_call        sends a message through an adapter, without rows
suppression_csv    imports and exports the suppression list
price_csv          imports prices
switches           sets and resumes kill switches
"""
