"""The board of planned work, and the four tools by which a model works with it."""
