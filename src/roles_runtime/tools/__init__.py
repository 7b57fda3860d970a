"""What a role may do."""
