"""Everything that makes the book: `python book/tools` lists the commands."""
