"""What builds the site: from notebooks and pages to HTML."""
