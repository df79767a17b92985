"""The lab of hierarchical retrieval."""
