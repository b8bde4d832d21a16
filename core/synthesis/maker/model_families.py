# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The families of models whose blocks become tasks: language models first. Those of images and
speech are in image_families.py.

Of classes that compute the same in several families the first family's is kept.
"""

from maker.model_forms import Block, Family

EXACT = ("float32",)  # routing by nearly equal scores is another one in half precision

HEADS = "hidden_size=hidden_size, num_attention_heads=num_heads"
GROUPED = HEADS + ", num_key_value_heads=num_key_value_heads, intermediate_size=intermediate_size"
LLAMA = GROUPED + ", head_dim=head_dim"
WIDE, EXPERT = "intermediate_size=intermediate_size", "intermediate_size=expert_size"
PLAIN = HEADS + ", intermediate_size=intermediate_size"
# Queries and keys turned by a family's rotary embedding.
ROTATE = Block("rotary embedding", "config", "query, key", "",
               after="del self.block.original_inv_freq  # for sequences that grow")


GATED = {"hidden_act": ('"silu"', '"gelu"', '"gelu_pytorch_tanh"', '"silu"')}
ACTS = {"hidden_act": ('"gelu"', '"gelu_new"', '"relu"', '"silu"', '"quick_gelu"')}

EXPERTS = Block("experts", "config", "flat, top_k_index, top_k_weights", dtypes=EXACT)
ROUTER = Block("routing", "config", "hidden_states", "[:2]", dtypes=EXACT)
MOE = Block("mixture of experts", "config", "hidden_states", dtypes=EXACT)
EMBED = Block("embedding", "config", "input_ids")


# All experts in one batched product: no shape depends on the routing.
ROUTED = 'num_experts_per_tok=experts_per_token, experts_implementation="batched_mm"'


def bert(name, config, prefix, **more):
    """An encoder in the manner of BERT: post-norm, learnt positions."""
    return Family(
        name, f"{config}({PLAIN}, vocab_size=vocabulary_size, max_position_embeddings=1040)",
        masks="padding", key=more.pop("key", "key"), options=ACTS,
        blocks={
            f"{prefix}Embeddings": EMBED,
            f"{prefix}CrossAttention": Block("attention", "config, layer_idx=0",
                                             "hidden_states, memory"),
            f"{prefix}Output": Block("residual", "config", "wide, residual"),
        } | more.pop("blocks", {}), **more)


TEXT_FAMILIES = (
    Family("llama", f"LlamaConfig({LLAMA})", "causal", options=GATED,
           blocks={"LlamaRotaryEmbedding": ROTATE}),
    Family("mistral", f"MistralConfig({LLAMA}, sliding_window=None)", "causal"),
    Family("qwen2", f"Qwen2Config({GROUPED})", "causal"),
    Family("qwen3", f"Qwen3Config({LLAMA})", "causal"),
    Family("gemma", f"GemmaConfig({LLAMA})", "causal"),
    Family("gemma2", f"Gemma2Config({LLAMA}, query_pre_attn_scalar=head_dim)", "causal"),
    Family("gemma3", f"Gemma3TextConfig({LLAMA}, query_pre_attn_scalar=head_dim)", "causal",
           rotary=', "sliding_attention"'),
    Family("phi", f"PhiConfig({GROUPED})", "causal"),
    Family("phi3", f"Phi3Config({GROUPED}, pad_token_id=0)", "causal",
           blocks={"Phi3RotaryEmbedding": ROTATE}),
    Family("gpt_neox", f"GPTNeoXConfig({PLAIN})", "causal"),
    Family("gptj", "GPTJConfig(n_embd=hidden_size, n_head=num_heads, rotary_dim=head_dim // 2, "
                   "n_positions=1040)", "causal", attention=("eager",),
           blocks={"GPTJAttention": Block("attention", "config, layer_idx=0", "hidden_states, "
                                          "attention_mask={mask}, position_ids=self.positions"),
                   "GPTJBlock": Block("layer", "config, layer_idx=0", "hidden_states, "
                                      "attention_mask={mask}, position_ids=self.positions"),
                   "GPTJMLP": Block("mlp", "intermediate_size, config")}),
    Family("gpt2", "GPT2Config(n_embd=hidden_size, n_head=num_heads, n_inner=intermediate_size)",
           "causal", options={"activation_function": ('"gelu_new"', '"relu"', '"gelu"', '"silu"')},
           blocks={"GPT2MLP": Block("mlp", "intermediate_size, config")}),
    Family("opt", f"OPTConfig({HEADS}, ffn_dim=intermediate_size)", "causal", key="k_proj",
           options={"activation_function": ('"relu"', '"gelu"')}),
    Family("bloom", "BloomConfig(hidden_size=hidden_size, n_head=num_heads)", "causal",
           blocks={"BloomGelu": Block("activation", "")}),
    Family("falcon", f"FalconConfig({HEADS}, num_kv_heads=num_key_value_heads, "
                     "new_decoder_architecture=True)", "causal",
           forward={"alibi": "None"},
           left={"FalconLinear": "a linear layer: torch.nn.Linear"}),
    Family("mpt", "MptConfig(d_model=hidden_size, n_heads=num_heads)",
           forward={"attention_mask": "self.future"}),
    Family("olmo", f"OlmoConfig({GROUPED})", "causal"),
    Family("olmo2", f"Olmo2Config({GROUPED})", "causal"),
    Family("granite", f"GraniteConfig({GROUPED}, attention_multiplier=0.125, "
                      "residual_multiplier=0.22)", "causal"),
    Family("cohere", f"CohereConfig({GROUPED})", "causal",
           blocks={"CohereRotaryEmbedding": ROTATE,
                   "CohereLayerNorm": Block("normalisation", "hidden_size")}),
    Family("stablelm", f"StableLmConfig({GROUPED}, qk_layernorm=True)", "causal",
           blocks={"StableLmLayerNormPerHead": Block("normalisation", "head_dim, num_heads",
                                                     "heads")}),
    Family("starcoder2", f"Starcoder2Config({GROUPED}, sliding_window=None)", "causal"),
    Family("glm", f"GlmConfig({LLAMA}, pad_token_id=0)", "causal",
           blocks={"GlmRotaryEmbedding": ROTATE}),
    Family("nemotron", f"NemotronConfig({LLAMA})", "causal",
           blocks={"NemotronLayerNorm1P": Block("normalisation", "hidden_size")}),
    Family("persimmon", f"PersimmonConfig({PLAIN})", "causal"),
    Family("helium", f"HeliumConfig({LLAMA})", "causal"),
    Family("modernbert", f"ModernBertConfig({PLAIN}, pad_token_id=0)", "padding",
           rotary=', "full_attention"', blocks={"ModernBertEmbeddings": EMBED}),
    Family("mixtral", f"MixtralConfig({LLAMA.replace(WIDE, EXPERT)}, "
           f"num_local_experts=num_experts, {ROUTED})",
           "causal", short=True,
           blocks={"MixtralExperts": EXPERTS, "MixtralTopKRouter": ROUTER,
                   "MixtralSparseMoeBlock": MOE,
                   "MixtralDecoderLayer": Block("layer", dtypes=EXACT)}),
    Family("qwen2_moe", f"Qwen2MoeConfig({GROUPED}, shared_expert_intermediate_size=expert_size, "
           f"num_experts=num_experts, moe_intermediate_size=expert_size, {ROUTED})",
           "causal", short=True,
           blocks={"Qwen2MoeExperts": EXPERTS, "Qwen2MoeTopKRouter": ROUTER,
                   "Qwen2MoeSparseMoeBlock": MOE,
                   "Qwen2MoeDecoderLayer": Block("layer", dtypes=EXACT)}),
    Family("olmoe", f"OlmoeConfig({GROUPED.replace(WIDE, EXPERT)}, num_experts=num_experts, "
                    f"{ROUTED})",
           "causal", short=True,
           blocks={"OlmoeExperts": EXPERTS, "OlmoeTopKRouter": ROUTER,
                   "OlmoeSparseMoeBlock": MOE,
                   "OlmoeDecoderLayer": Block("layer", dtypes=EXACT)}),
    Family("deepseek_v3", f"DeepseekV3Config({HEADS}, "
           "num_key_value_heads=num_heads, intermediate_size=intermediate_size, "
           "q_lora_rank=hidden_size // 2, kv_lora_rank=hidden_size // 4, "
           "qk_rope_head_dim=head_dim // 2, qk_nope_head_dim=head_dim, v_head_dim=head_dim, "
           "n_group=2, topk_group=1, n_routed_experts=num_experts, num_experts_per_tok=2, "
           'moe_intermediate_size=expert_size, experts_implementation="batched_mm")',
           "causal", short=True,
           blocks={"DeepseekV3Experts": EXPERTS,
                   "DeepseekV3TopkRouter": Block(
                       "routing", "config", "hidden_states", "[:2]", dtypes=EXACT,
                       after="self.block.e_score_correction_bias.normal_(std=0.1)"),
                   "DeepseekV3MoE": Block(
                       "mixture of experts", "config", "hidden_states", dtypes=EXACT,
                       after="self.block.gate.e_score_correction_bias.normal_(std=0.1)")}),
    bert("bert", "BertConfig", "Bert"),
    bert("roberta", "RobertaConfig", "Roberta"),
    bert("electra", "ElectraConfig", "Electra"),
    bert("deberta_v2", "DebertaV2Config", "DebertaV2", key="key_proj",
         forward={"attention_mask": "self.everywhere"},
         blocks={"ConvLayer": Block("convolution block", "config",
                                    "hidden_states, residual, self.present")}),
    Family("albert", f"AlbertConfig({PLAIN}, vocab_size=vocabulary_size, embedding_size=128, "
                     "max_position_embeddings=1040)", "padding", key="key",
           options={"hidden_act": ('"gelu_new"', '"gelu"', '"relu"')},
           blocks={"AlbertEmbeddings": EMBED}),
    Family("distilbert", "DistilBertConfig(dim=hidden_size, n_heads=num_heads, "
                         "hidden_dim=intermediate_size, vocab_size=vocabulary_size, "
                         "max_position_embeddings=1040)", "padding", key="k_lin",
           blocks={"Embeddings": EMBED}),
    Family("t5", "T5Config(d_model=hidden_size, d_kv=head_dim, num_heads=num_heads, "
                 "d_ff=intermediate_size)",
           options={"feed_forward_proj": ('"relu"', '"gated-gelu"')},
           blocks={"T5Attention": Block("attention", "config, has_relative_attention_bias=True, "
                                        "layer_idx=0"),
                   "T5LayerSelfAttention": Block("attention", "config, "
                                                 "has_relative_attention_bias=True, layer_idx=0"),
                   "T5LayerCrossAttention": Block("attention", "config, layer_idx=0",
                                                  "hidden_states, memory"),
                   "T5Block": Block("layer", "config, has_relative_attention_bias=True, "
                                    "layer_idx=0", result="[0]")}),
    Family("bart", "BartConfig(d_model=hidden_size, encoder_attention_heads=num_heads, "
                   "decoder_attention_heads=num_heads, encoder_ffn_dim=intermediate_size, "
                   "decoder_ffn_dim=intermediate_size)", "padding", key="k_proj",
           options={"activation_function": ('"gelu"', '"relu"', '"silu"')},
           blocks={"BartEncoderLayer": Block("layer", "config, layer_idx=0",
                                             dtypes=("float32", "bfloat16")),  # looks for infinity
                   "BartAttention": Block("attention", "hidden_size, num_heads, config=config, "
                                          "layer_idx=0", "hidden_states, key_value_states=memory"),
                   "BartDecoderLayer": Block("layer", "config, layer_idx=0", "hidden_states, "
                                             "attention_mask=self.causal, "
                                             "encoder_hidden_states=memory, use_cache=False")}),
    Family("pegasus", "PegasusConfig(d_model=hidden_size, encoder_attention_heads=num_heads, "
                      "decoder_attention_heads=num_heads, encoder_ffn_dim=intermediate_size, "
                      "decoder_ffn_dim=intermediate_size)", "padding", key="k_proj",
           blocks={"PegasusDecoderLayer": Block("layer", "config, layer_idx=0", "hidden_states, "
                                                "attention_mask=self.causal, "
                                                "encoder_hidden_states=memory, use_cache=False")}),
    Family("mamba", "MambaConfig(hidden_size=hidden_size, state_size=16, time_step_scale=4.0)",
           options={"expand": ("1", "2"), "conv_kernel": ("3", "4")}, attention=(), drawn=False,
           blocks={"MambaMixer": Block("state space", "config, layer_idx=0"),
                   "MambaBlock": Block("layer", "config, layer_idx=0",
                                       after="self.block.mixer.init_mamba_weights()")}),
)
