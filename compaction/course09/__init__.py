"""What is special to mini-harness 09: its meter, its session log and its compaction loop."""
