"""Files, folders, caches and the shell: access to the operating system."""
