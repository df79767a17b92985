"""Chapter 16, Object detection with an AP loss."""
