"""Chapter 15, The baselines, on one batch."""
