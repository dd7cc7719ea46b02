"""What pages and their JSON twins show, one file a page. Queries read and never write."""
