"""Flight plans as text: reading, errors that name the line's path, partial updates, differences."""
