"""The page of the errata."""
