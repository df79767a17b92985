"""Chapter 12, Surrogates side by side."""
