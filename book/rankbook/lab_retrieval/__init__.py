"""The lab of retrieval."""
