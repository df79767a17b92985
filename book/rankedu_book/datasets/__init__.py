"""The page of the data sets."""
