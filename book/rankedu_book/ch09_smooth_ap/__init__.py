"""Chapter 9, Smooth-AP: replacing the step by a sigmoid."""
