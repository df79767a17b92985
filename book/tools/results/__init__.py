"""What was run for the pages: claims, examples, times."""
