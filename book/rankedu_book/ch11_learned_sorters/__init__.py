"""Chapter 11, Learned sorters: a network that ranks."""
