"""Source pointers and what is behind them now.

`SCHEMES` is the literal tuple of schemes, one file each; another one is a file and a line here, and one that needs a
network implements the same protocol elsewhere and is handed to the resolver beside these. `parse` reads a pointer,
`resolver` authorises, looks and answers; `chain` and `verify_bundle` keep and check the audit of the answers.
"""

from compaction.sources.artifact import ArtifactGrammar
from compaction.sources.base import Grammar
from compaction.sources.transcript import TranscriptGrammar

SCHEMES: tuple[Grammar, ...] = (TranscriptGrammar(), ArtifactGrammar())
