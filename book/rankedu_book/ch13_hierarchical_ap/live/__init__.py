"""What the reader drags on these pages."""
