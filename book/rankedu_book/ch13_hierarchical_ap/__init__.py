"""Chapter 13, Hierarchical average precision."""
