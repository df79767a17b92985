"""What the reader drags on the page of the claims."""
