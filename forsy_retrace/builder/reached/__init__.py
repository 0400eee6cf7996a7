"""Services, servers, pages and tables: what a call reached beyond the files of its machine."""
