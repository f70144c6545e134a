"""What a reviewer asks of a network in firmware, collected into one folder, and checked again from that folder."""
