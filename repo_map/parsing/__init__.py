"""How the bytes of one source file become definitions, references and imports."""
