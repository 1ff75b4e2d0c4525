"""What a navigation keeps and tells: values alone, without the engine."""
