"""Portable C99: runs everywhere, every other platform may inherit from it."""

PUBLIC = (
    "memory", "platform", "kernels.attention", "kernels.blocks", "kernels.blocks_f32", "kernels.code_descent",
    "kernels.coded_attention", "kernels.coded_lstm", "kernels.codes", "kernels.codes_dynamic", "kernels.codes_near",
    "kernels.codes_quotient", "kernels.codes_real", "kernels.codes_resize", "kernels.codes_settled",
    "kernels.codes_sums", "kernels.conv_f32", "kernels.conv_gathered_f32", "kernels.conv_i8", "kernels.conv_rows_f32",
    "kernels.dense_f32", "kernels.dense_i8", "kernels.depthwise_i8", "kernels.depthwise_tile_f32",
    "kernels.dequantise_table", "kernels.descent", "kernels.descent_depthwise", "kernels.descent_pair",
    "kernels.elements", "kernels.exponential_f32", "kernels.float_text", "kernels.functions_f32",
    "kernels.functions_whole", "kernels.integer_conv", "kernels.integer_product", "kernels.learnt_i8",
    "kernels.matmul_blocks", "kernels.nest", "kernels.nest_address", "kernels.nest_expressions", "kernels.nest_loops",
    "kernels.normalised_i8", "kernels.overlap", "kernels.phases", "kernels.pool_i8", "kernels.pooled_conv",
    "kernels.product_f32", "kernels.product_i8", "kernels.quantise_f32", "kernels.quantise_steps", "kernels.recurrent",
    "kernels.recurrent_packed", "kernels.relayout", "kernels.resize_joined_i8", "kernels.resize_linear_i8",
    "kernels.resized_floats", "kernels.resized_images", "kernels.row_codes", "kernels.runs", "kernels.softmax_f32",
    "kernels.softmax_few_i8", "kernels.softmax_i8", "kernels.two_operands", "kernels.vector_product_f32",
    "kernels.whole_codes", "kernels.whole_products", "kernels.whole_recurrent", "kernels.whole_softmax",
)  # fmt: skip
"""Modules of which other platforms import names: kernels to derive from, blocks, loops and windows to build on."""
