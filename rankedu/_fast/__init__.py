"""All that is fast and hard to read: packed keys, tiles, closed forms, and the engine that chooses. Readers skip it."""
