"""The page of the results."""
