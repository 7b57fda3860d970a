"""Who keeps roles alive: teams, sessions, rounds, the router."""
