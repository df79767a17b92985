"""Chapter 3, Ranking is a solver."""
