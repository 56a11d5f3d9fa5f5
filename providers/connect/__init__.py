"""Control planes of vendors: `manage.py connect` checks, repairs and reads an account.

    account     the contract: findings, changes, suppressed addresses, rate
    registry    the accounts by the name of the provider
    aws         clients of AWS, and AWS's errors as one line
    receipts_topic  the SNS topic that brings the receipts of an AWS service
    ses, aws_eum, aws_sns, twilio, vonage  an account each

The package uses the vendors' own SDKs, because an operator runs the package a few times a year. No
module that sends messages imports the package, so that workers do not load the SDKs.
"""
