"""Chapter 14, HAPPIER."""
