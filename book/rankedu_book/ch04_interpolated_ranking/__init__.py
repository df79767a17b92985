"""Chapter 4, Interpolated ranking."""
