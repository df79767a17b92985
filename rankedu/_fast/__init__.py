"""All that is fast and hard to read: sort keys, radix counts, tiles, closed forms. Readers skip this room."""
