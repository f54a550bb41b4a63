"""TileLang's pass configurations, by what they mean here."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from .errors import TileError
from .language.trace import Options


class PassConfigKey(str, enum.Enum):
    """Keys of `pass_configs`. Fast math and the bounds of memory accesses have a
    meaning here; the others steer TileLang's own passes and change no result."""

    TL_ENABLE_FAST_MATH = "tl.enable_fast_math"
    TL_DISABLE_FAST_MATH = "tl.disable_fast_math"
    TL_DISABLE_SAFE_MEMORY_LEGALIZE = "tl.disable_safe_memory_legalize"
    TL_DISABLE_WARP_SPECIALIZED = "tl.disable_warp_specialized"
    TL_DISABLE_TMA_LOWER = "tl.disable_tma_lower"
    TL_DISABLE_WGMMA = "tl.disable_wgmma"
    TL_DISABLE_VECTORIZE_256 = "tl.disable_vectorize_256"
    TL_ENABLE_ASYNC_COPY = "tl.enable_async_copy"
    TL_CONFIG_INDEX_BITWIDTH = "tl.config_index_bitwidth"
    TL_PTXAS_REGISTER_USAGE_LEVEL = "tl.ptxas_register_usage_level"
    TL_ENABLE_PTXAS_VERBOSE_OUTPUT = "tl.enable_ptxas_verbose_output"
    TL_ENABLE_AGGRESSIVE_SHARED_MEMORY_MERGE = "tl.enable_aggressive_shared_memory_merge"
    TL_DISABLE_SHARED_MEMORY_REUSE = "tl.disable_shared_memory_reuse"
    TL_DEBUG_MERGE_SHARED_MEMORY_ALLOCATIONS = "tl.debug_merge_shared_memory_allocations"
    TL_DISABLE_THREAD_STORAGE_SYNC = "tl.disable_thread_storage_sync"
    TL_DISABLE_SHUFFLE_ELECT = "tl.disable_shuffle_elect"
    TL_DISABLE_LOOP_UNSWITCHING = "tl.disable_loop_unswitching"
    TL_DISABLE_DATA_RACE_CHECK = "tl.disable_data_race_check"
    TL_DISABLE_OUT_OF_BOUND_WARNING = "tl.disable_out_of_bound_warning"
    TL_SIMPLIFY = "tl.Simplify"
    TL_FORCE_LET_INLINE = "tl.force_let_inline"
    TL_AST_PRINT_ENABLE = "tl.ast_print_enable"
    TL_LAYOUT_VISUALIZATION_ENABLE = "tl.layout_visualization_enable"
    TL_LAYOUT_VISUALIZATION_FORMATS = "tl.layout_visualization_formats"
    TL_STORAGE_REWRITE_DETECT_INPLACE = "tl.storage_rewrite_detect_inplace"
    TIR_ENABLE_EQUIV_TERMS_IN_CSE = "tir.enable_equiv_terms_in_cse_tir"
    TIR_DISABLE_CSE = "tir.disable_cse_tir"
    TIR_SIMPLIFY = "tir.Simplify"
    TIR_DISABLE_STORAGE_REWRITE = "tir.disable_storage_rewrite"
    TIR_DISABLE_VECTORIZE = "tir.disable_vectorize"
    TIR_USE_ASYNC_COPY = "tir.use_async_copy"
    TIR_ENABLE_DEBUG = "tir.enable_debug"
    TIR_MERGE_STATIC_SMEM = "tir.merge_static_smem"
    TIR_ADD_LOWER_PASS = "tir.add_lower_pass"
    TIR_NOALIAS = "tir.noalias"
    CUDA_KERNELS_OUTPUT_DIR = "cuda.kernels_output_dir"
    # Ours.
    TILE_CONTRACT = "tile.contract"
    TILE_BOUNDS = "tile.bounds"


FAST = ("contract", "afn", "arcp")
FLAGS_FOR_FAST = ("--use_fast_math", "-use_fast_math", "--ftz=true", "-ffast-math")
# What steers nvcc's preprocessor and front end, ptxas's reports and its use of registers: no
# result depends on it, as no CUDA source takes part.
FLAGS_WITHOUT_EFFECT = (
    "-O",
    "-lineinfo",
    "--lineinfo",
    "-std=",
    "-W",
    "-Xptxas",
    "--ptxas-options",
    "--expt-",
    "-D",
    "-U",
)

Configs = Optional[Mapping[Union[str, PassConfigKey], Any]]


def options_of(configs: Configs, flags: None | str | Sequence[str] = None) -> Options:
    """What `pass_configs` and `compile_flags` ask for. By default a product and a sum
    may be fused into one operation (`contract`), as nvcc does."""
    known = {key.value: key for key in PassConfigKey}
    options = Options()
    settings: dict[PassConfigKey, Any] = {}
    for name, value in (configs or {}).items():
        key = known.get(name.value if isinstance(name, PassConfigKey) else str(name))
        if key is None:
            raise TileError(f"pass_configs has no key {name!r}; there are {', '.join(sorted(known))}")
        settings[key] = value
    fast = bool(settings.get(PassConfigKey.TL_ENABLE_FAST_MATH, False))
    if settings.get(PassConfigKey.TL_DISABLE_FAST_MATH, False):
        fast = False
    for flag in flags.split() if isinstance(flags, str) else flags or []:
        if flag in FLAGS_FOR_FAST:
            fast = True
        elif not flag.startswith(FLAGS_WITHOUT_EFFECT):
            raise TileError(f"compile_flags={flag!r} means nothing here: nvcc takes no part in compilation")
    if fast:
        options.fastmath = FAST
    elif settings.get(PassConfigKey.TILE_CONTRACT) is False:
        options.fastmath = ()
    options.bounds = settings.get(PassConfigKey.TILE_BOUNDS, "guard")
    if settings.get(PassConfigKey.TL_DISABLE_SAFE_MEMORY_LEGALIZE):
        options.bounds = "assume"
    if options.bounds not in ("guard", "trap", "assume"):
        raise TileError(f"tile.bounds is guard, trap or assume, not {options.bounds!r}")
    return options
