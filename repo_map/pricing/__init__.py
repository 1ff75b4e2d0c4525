"""What each file and part costs in tokens, known before anything is drawn."""
