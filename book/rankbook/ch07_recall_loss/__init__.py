"""Chapter 7, A recall loss with dense supervision."""
