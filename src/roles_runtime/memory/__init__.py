"""What a role may see of the conversation."""
