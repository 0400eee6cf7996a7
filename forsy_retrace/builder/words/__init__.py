"""What people and agents say: the phrases, and the rules that read messages by them."""
