"""Names of TileLang that this language does not have, and what to do instead.

Whatever is neither here nor in the language is unknown; both are errors at the
user's line, so that nothing is ignored.
"""

from __future__ import annotations

_PIPELINED = (
    "write the simple loop with T.Pipelined, T.copy and T.gemm: "
    "the compiler issues asynchronous copies and products itself"
)
_TENSOR_MEMORY = "tensor memory belongs to sm_100, for which there is no code generator yet"
_CUDA_SOURCE = "no CUDA source takes part in compilation; write it in the language, or as ops with tile.ir"
_POINTERS = "pointers are not in the language; give the tensor as a parameter"
_ROLES = "the compiler assigns warps to roles itself"

REASONS: dict[str, str] = {}


def _because(reason: str, names: str) -> None:
    for name in names.split():
        REASONS[name] = reason


_because(
    _PIPELINED,
    """async_copy copy_cluster tma_gather4 tma_scatter4 warpgroup_arrive warpgroup_commit_batch warpgroup_wait
    warpgroup_fence_operand mbarrier_expect_tx mbarrier_arrive_expect_tx
    ptx_arrive_cluster_barrier alloc_cluster_barrier
    create_list_of_mbarrier create_tma_descriptor tma_load tma_store
    named_barrier_arrive""",
)
_because(
    _TENSOR_MEMORY,
    """alloc_tmem deallocate_tmem tcgen05_gemm tcgen05_gemm_blockscaled mma_gemm_blockscaled
    make_blockscaled_gemm_layout tcgen05_mma_arrive tcgen05_cp_warpx4 tcgen05_sf_warp_transpose
    tcgen05_before_thread_sync tcgen05_after_thread_sync alloc_tcgen05_smem_desc alloc_tcgen05_instr_desc
    clc_try_cancel clc_try_cancel_multicast clc_is_canceled clc_get_first_ctaid_x clc_get_first_ctaid_y
    clc_get_first_ctaid_z""",
)
_because(
    _CUDA_SOURCE,
    """CUDASourceCodeKernel import_source call_extern call_intrin call_pure_extern evaluate attr comm_reducer
    tvm_thread_allreduce tvm_warp_shuffle ptx_mma ptx_ldmatrix ptx_wgmma_ss ptx_wgmma_rs mma_fill mma_store dp4a
    annotate_compile_flags annotate_pass_configs launch_thread block_attr""",
)
_because(
    _POINTERS,
    """ptr make_tensor make_tensor_from_addr address_of tvm_access_ptr handle alloc_descriptor
    alloc_wgmma_desc""",
)
_because(_ROLES, """WSSchedule WSRole WSPipeline WSScope WSSync WSOpRef annotate_ws_schedule ws_op WSID""")
_because(
    "sparse products are not in the language", "gemm_sp wgmma_gemm_sp tcgen05_gemm_sp make_cutlass_metadata_layout"
)
_because(
    "clusters are the compiler's choice; blocks meet in global memory",
    """block_rank_in_cluster cluster_arrive cluster_arrive_relaxed cluster_wait cluster_sync pdl_trigger pdl_sync""",
)
_because(
    "blocks of one launch do not wait for each other; end the T.Kernel and open another one in the same function: "
    "launches follow one another, and T.alloc_global before them holds what they hand on",
    "sync_grid sync_global",
)
_because("random numbers are made on the host and given as a tensor", "rng_init rng_rand rng_rand_float")
_because(
    "use T.exp, T.log and so on; TL_ENABLE_FAST_MATH makes them fast",
    "__exp __exp10 __log __log2 __log10 __sin __cos __tan fast_rcp",
)
_because("write T.copy of a slice, or elements in T.Parallel", "index_to_coordinates linear_index")
_because("use Python classes of macros: methods under T.macro", "meta_class inline PersistentTileScheduler")
_because(
    "this element type is not supported",
    """float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float8_e4m3b11fnuz float8_e3m4 float6_e2m3fn
    float6_e3m2fn float4_e2m1fn float4_e2m1_unpacked""",
)
_because(
    "cast with .astype; conversions round to nearest even",
    "ieee_add ieee_sub ieee_mul ieee_fmaf ieee_frcp ieee_fsqrt ieee_frsqrt ieee_fdiv",
)
_because(
    "write the operation on elements; the compiler vectorises",
    "add2 sub2 mul2 fma2 max2 min2 abs2 ldg32 ldg64 ldg128 ldg256 stg32 stg64 stg128 stg256",
)
_because("use T.atomic_add and T.atomic_max; loads and stores of one element are whole", "atomic_load atomic_store")
_because(
    "use T.any_sync or T.all_sync, or reduce with T.reduce_max",
    "any_of all_of syncthreads_count syncthreads_and syncthreads_or",
)
_because("write `break`", "loop_break")


def message(name: str) -> str:
    """What to say of a name that the language does not have."""
    if name in REASONS:
        return f"T.{name} is not supported: {REASONS[name]}"
    for prefix, width in (("float", 0), ("int", 0), ("uint", 0), ("bfloat16", 0)):
        if name.startswith(prefix) and "x" in name[len(prefix) + width :]:
            return f"T.{name} is not supported: vector types are not in the language; use the element type"
    return f"the language has no T.{name}"
