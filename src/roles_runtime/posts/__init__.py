"""What is said: Posts, Attachments, Rounds and the events of a journal. Pure data, no I/O."""
