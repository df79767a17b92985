"""What makes the results page: records, tables, pictures."""
