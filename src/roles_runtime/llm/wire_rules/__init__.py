"""What each provider's wire allows, a file a wire: plain checks in one pass, made for thousands of messages a turn."""
