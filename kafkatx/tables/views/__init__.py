"""SQL files of the views (tables/view_files.py)."""
