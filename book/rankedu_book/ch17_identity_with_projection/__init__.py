"""Chapter 17, Identity with projection."""
