"""The command line: the two commands, and what installs and checks them."""
