"""Chapter 5, Mini-batch bias and memory."""
