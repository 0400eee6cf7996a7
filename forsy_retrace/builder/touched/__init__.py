"""Which files a call reads, lists, writes and edits, and which lines of them."""
