"""Interactive charts for the page."""
