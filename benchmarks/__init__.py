"""`make bench`: what the program costs on this machine, beside what the machine allows and what others take."""
