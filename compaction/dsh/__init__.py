"""What is special to the dsh harness: its prices, its options and its content blocks, as its session log writes them."""
