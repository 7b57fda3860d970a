"""``python -m roles_runtime``."""

import sys

if __name__ == "__main__":
    try:
        from roles_runtime.apps.cli import main
    except KeyboardInterrupt:
        sys.exit(130)
    main()
