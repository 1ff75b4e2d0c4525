"""What one server keeps in files of its own: a database, its tables, and where its SQL is SQLite's."""
