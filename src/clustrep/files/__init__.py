"""Files and folders: archives of arrays, saved results, folders that change as a whole."""
