"""Chapter 20, Large batches and memories."""
