"""The page on which operators import recipients from a CSV file."""
