"""``python -m benchmarks.relations``."""

from benchmarks.relations.command import main

if __name__ == "__main__":
    main()
