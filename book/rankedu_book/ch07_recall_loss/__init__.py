"""Chapter 7, From recall@K to a loss that trains every relevant item."""
