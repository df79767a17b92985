"""Chapter 6, Ties and margins."""
