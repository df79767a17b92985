"""Chapter 2, Blackbox differentiation."""
