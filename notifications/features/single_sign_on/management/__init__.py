"""The command of single sign-on."""
