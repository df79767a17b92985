"""What is trained, measured or computed for the pages, one file a chapter's subject; figures draw it."""
