"""Files, folders, caches and the shell: what the operating system gives."""
