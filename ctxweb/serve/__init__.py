"""`manage.py serve`: one process that starts the broker, the worker and the web server, and ends them."""
