"""The front page, and the page that tells the whole idea."""
