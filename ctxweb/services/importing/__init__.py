"""The stages of an import: intake (what is it, do we know it), parsing, counting, publishing."""
