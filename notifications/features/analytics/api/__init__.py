"""The operation that answers questions of producers about their figures."""
