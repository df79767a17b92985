"""Chapter 17, Since then."""
