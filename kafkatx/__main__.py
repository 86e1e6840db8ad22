"""`python -m kafkatx`."""

from kafkatx.cli.app import main

if __name__ == "__main__":
    main()
