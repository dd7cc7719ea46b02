"""All layers. A policy names the ones that it runs, in its own order; this tuple only says what there is."""

from __future__ import annotations

from compaction.layers.base import Layer
from compaction.layers.clear_old_results import ClearOldResults
from compaction.layers.clear_thinking import ClearThinking
from compaction.layers.clear_tool_results import ClearToolResults
from compaction.layers.dedup_file_reads import DedupFileReads
from compaction.layers.drop_interactions import DropInteractions
from compaction.layers.limit_by_kind import LimitByKind
from compaction.layers.mask_tool_results import MaskToolResults
from compaction.layers.opaque_compaction import OpaqueCompaction
from compaction.layers.prune_old_messages import PruneOldMessages
from compaction.layers.prune_results import PruneResults
from compaction.layers.restore_files import RestoreFiles
from compaction.layers.result_budget import ResultBudget
from compaction.layers.sliding_window import SlidingWindow
from compaction.layers.snip_messages import SnipMessages
from compaction.layers.spill_head_tail import SpillHeadTail
from compaction.layers.spill_results import SpillResults
from compaction.layers.summarise_all import SummariseAll
from compaction.layers.summarise_everything import SummariseEverything
from compaction.layers.summarise_keep_recent import SummariseKeepRecent
from compaction.layers.summarise_old import SummariseOld
from compaction.layers.summarise_range import SummariseRange
from compaction.layers.summarise_reactive import SummariseReactive
from compaction.layers.truncate_results import TruncateResults

LAYERS: tuple[type[Layer], ...] = (
    TruncateResults,
    DedupFileReads,
    PruneOldMessages,
    SummariseOld,
    ResultBudget,
    SnipMessages,
    ClearOldResults,
    SummariseEverything,
    SummariseReactive,
    ClearThinking,
    ClearToolResults,
    DropInteractions,
    LimitByKind,
    MaskToolResults,
    OpaqueCompaction,
    PruneResults,
    RestoreFiles,
    SlidingWindow,
    SpillHeadTail,
    SpillResults,
    SummariseAll,
    SummariseKeepRecent,
    SummariseRange,
)
