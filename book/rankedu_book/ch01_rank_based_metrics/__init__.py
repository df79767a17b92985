"""Chapter 1, Rank-based metrics."""
