"""Where code runs: the Kernel contract, the sandbox, and the only door to a session's files."""
