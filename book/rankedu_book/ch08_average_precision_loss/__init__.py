"""Chapter 8, The average precision loss."""
