"""Chapter 10, FastAP: ranking by histogram."""
