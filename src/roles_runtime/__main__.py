"""``python -m roles_runtime``."""

from roles_runtime.apps.cli import main

if __name__ == "__main__":
    main()
