"""Series: several messages to a recipient over days, with waits and conditions."""
