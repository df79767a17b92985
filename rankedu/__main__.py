"""`python -m rankedu` is the `rankedu` command."""

import sys


def main() -> None:
    """Entry point of the `rankedu` command."""
    try:
        from rankedu.cli import app
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        sys.exit("rankedu: the command line needs Typer, which is not installed: pip install 'rankedu[cli]'")
    app()


if __name__ == "__main__":
    main()
