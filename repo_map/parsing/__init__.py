"""Bytes of one file in, its definitions, references and imports out."""
