# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The families of models of images and speech whose blocks become tasks."""

from maker.model_forms import Block, Family

PLAIN = ("hidden_size=hidden_size, num_attention_heads=num_heads, "
         "intermediate_size=intermediate_size")
IMAGES = PLAIN + ", image_size=image_size, patch_size=patch_size"
ACTS = {"hidden_act": ('"gelu"', '"relu"', '"silu"', '"quick_gelu"')}
CONV_ACTS = {"hidden_act": ('"relu"', '"gelu"', '"silu"')}


def conv(make, call="maps", kind="convolution block", result=None, config=""):
    return Block(kind, make, call, result, config=config)


def patches(make="config", result=None):
    return Block("patch embedding", make, "pixel_values", result)


def norm(make, call="maps"):
    return Block("normalisation", make, call)


LOOKUP = "a lookup in a table: torch.nn.Embedding"
PART = "a part of a head"
STACK = "a stack of layers; the layer is there"


def vit(name, config, prefix, key="k_proj", more="", **rest):
    config = f"{config}({IMAGES}{', ' if more else ''}{more})"
    return Family(name, config, key=key, options=ACTS,
                  blocks={f"{prefix}PatchEmbeddings": Block("patch embedding", "config",
                                                            "pixel_values"),
                          f"{prefix}Embeddings": Block("patch embedding", "config",
                                                       "pixel_values")} | rest.pop("blocks", {}),
                  **rest)


IMAGE_FAMILIES = (
    vit("vit", "ViTConfig", "ViT"),
    vit("deit", "DeiTConfig", "DeiT"),
    vit("beit", "BeitConfig", "Beit", blocks={
        "BeitConvLayer": conv("channels, out_channels, kernel_size=kernel_size"),
        "BeitFPNUpBlock": conv("channels"),
    }, left={"BeitRelativePositionBias": LOOKUP, "BeitPyramidPoolingBlock": PART,
             "BeitPyramidPoolingModule": PART, "BeitFPNNeck": PART}),
    vit("dinov2", "Dinov2Config", "Dinov2", key="key", more="use_mask_token=False", blocks={
        "Dinov2LayerScale": Block("scaling", "config"),
        "Dinov2SwiGLUFFN": Block("gated mlp", "config"),
    }, left={"Dinov2SelfOutput": "a linear layer: torch.nn.Linear"}),
    Family("clip", f"CLIPVisionConfig({IMAGES})", "padding", key="k_proj", options=ACTS,
           blocks={"CLIPVisionEmbeddings": patches(),
                   "CLIPTextEmbeddings": Block(
                       "embedding", "config", "input_ids",
                       config="CLIPTextConfig(hidden_size=hidden_size, vocab_size=vocabulary_size, "
                              "max_position_embeddings=1040)")}),
    Family("siglip", f"SiglipVisionConfig({IMAGES})", "padding", key="k_proj",
           left={"SiglipTextEmbeddings": "the same as CLIPTextEmbeddings of clip"},
           blocks={"SiglipVisionEmbeddings": patches(),
                   "SiglipMultiheadAttentionPoolingHead": Block("pooler", "config")}),
    Family("convnext", "ConvNextConfig(hidden_sizes=[channels] * 4)", options=CONV_ACTS,
           attention=(), blocks={
        "ConvNextLayerNorm": norm('channels, data_format="channels_first"'),
        "ConvNextEmbeddings": patches(),
        "ConvNextLayer": conv("config, channels"),
        "ConvNextStage": conv("config, channels, out_channels, depth=2", kind="stage")}),
    Family("convnextv2", "ConvNextV2Config(hidden_sizes=[channels] * 4)", options=CONV_ACTS,
           attention=(), blocks={
        "ConvNextV2LayerNorm": norm('channels, data_format="channels_first"'),
        "ConvNextV2GRN": norm("channels", "nhwc"),
        "ConvNextV2Embeddings": patches(),
        "ConvNextV2Layer": conv("config, channels"),
        "ConvNextV2Stage": conv("config, channels, out_channels, depth=2", kind="stage")}),
    Family("resnet", "ResNetConfig(embedding_size=channels)", options=CONV_ACTS, attention=(),
           blocks={
        "ResNetConvLayer": conv("channels, out_channels, kernel_size=kernel_size, stride=stride"),
        "ResNetEmbeddings": patches(),
        "ResNetShortCut": conv("channels, out_channels, stride=stride"),
        "ResNetBasicLayer": conv("channels, out_channels, stride=stride"),
        "ResNetBottleNeckLayer": conv("channels, out_channels, stride=stride"),
        "ResNetStage": conv("config, channels, out_channels, stride=stride, depth=2",
                            kind="stage")}),
    Family("regnet", "RegNetConfig(embedding_size=channels, groups_width=16)", options=CONV_ACTS,
           attention=(), blocks={
        "RegNetConvLayer": conv("channels, out_channels, kernel_size=kernel_size, stride=stride, "
                                "groups=4"),
        "RegNetEmbeddings": patches(),
        "RegNetShortCut": conv("channels, out_channels, stride=stride"),
        "RegNetSELayer": conv("channels, reduced_channels=channels // 4"),
        "RegNetXLayer": conv("config, channels, out_channels, stride=stride"),
        "RegNetYLayer": conv("config, channels, out_channels, stride=stride"),
        "RegNetStage": conv("config, channels, out_channels, stride=stride, depth=2",
                            kind="stage")}),
    Family("mobilenet_v1", "MobileNetV1Config()", attention=(), blocks={
        "MobileNetV1ConvLayer": conv("config, channels, out_channels, kernel_size, "
                                     "stride=stride")}),
    Family("mobilenet_v2", "MobileNetV2Config()", attention=(), options={
        "hidden_act": ('"relu6"', '"relu"', '"silu"')}, blocks={
        "MobileNetV2ConvLayer": conv("config, channels, channels, kernel_size, stride=stride, "
                                     "groups=channels"),
        "MobileNetV2InvertedResidual": conv("config, channels, channels, stride"),
        "MobileNetV2Stem": conv("config, 3, expanded_channels=channels, "
                                "out_channels=out_channels", "pixel_values")}),
    Family("segformer", "SegformerConfig(hidden_sizes=[channels, channels, out_channels, "
                        "out_channels], num_attention_heads=[4, 4, 4, 4])", key="k_proj",
           options=ACTS, left={"SegformerMLP": PART}, blocks={
        "SegformerOverlapPatchEmbeddings": patches(
            "patch_size=7, stride=4, num_channels=3, hidden_size=channels", "[0]"),
        "SegformerSequenceReduction": conv("channels, 2", "tokens, height, width", result=""),
        "SegformerAttention": conv("config, channels, 4, 2", "tokens, height, width", "attention"),
        "SegformerDepthWiseConv": conv("channels", "tokens, height, width", result=""),
        "SegformerMixMLP": conv("config, channels, channels * 4", "tokens, height, width", "mlp"),
        "SegformerLayer": conv("config, channels, 4, 0.0, 2, 4", "tokens, height, width", "layer"),
        "SegformerStage": conv("config, 2, [0.0] * 8", kind="stage")}),
    Family("swin", "SwinConfig(embed_dim=hidden_size, image_size=image_size, "
                   "patch_size=patch_size, window_size=window_size)", key="k_proj", options=ACTS,
           left={"SwinRelativePositionBias": LOOKUP}, blocks={
        "SwinPatchEmbeddings": patches(result="[0]"),
        "SwinEmbeddings": patches(result="[0]"),
        "SwinPatchMerging": conv("hidden_size", "places, (height, width)", "patch merging"),
        "SwinAttention": conv("config, hidden_size, num_heads, window_size", "windows",
                              "attention"),
        "SwinMLP": Block("mlp", "config, hidden_size"),
        "SwinLayer": conv("config, hidden_size, (height, width), num_heads, "
                          "shift_size=window_size // 2", "places, (height, width)", "layer"),
        "SwinStage": conv("config, hidden_size, (height, width), 2, num_heads, [0.0, 0.0], None",
                          "places, (height, width)", "stage")}),
    Family("poolformer", "PoolFormerConfig()", attention=(), options=CONV_ACTS,
           left={"PoolFormerFinalPooler": PART}, blocks={
        "PoolFormerEmbeddings": patches("hidden_size=channels, num_channels=3, patch_size=7, "
                                        "stride=4, padding=2"),
        "PoolFormerGroupNorm": norm("channels"),
        "PoolFormerPooling": conv("3", kind="pooling"),
        "PoolFormerOutput": conv("config, 0.0, channels, channels * 4", kind="mlp"),
        "PoolFormerLayer": Block(
            "layer", "config, channels, 3, channels, channels * 4, 0.0", "maps",
            after="self.block.before_norm.bias = None  # pooling minus identity undoes it")}),
    Family("pvt", "PvtConfig(image_size=image_size)", key="key", attention=(), options=ACTS,
           blocks={
        "PvtPatchEmbeddings": patches("config, image_size, patch_size, patch_size, 3, channels",
                                      "[0]"),
        "PvtSelfOutput": Block("residual", "config, hidden_size"),
        "PvtEfficientSelfAttention": conv("config, channels, 4, 2", "tokens, height, width",
                                          "attention"),
        "PvtAttention": conv("config, channels, 4, 2", "tokens, height, width", "attention"),
        "PvtFFN": conv("config, channels, channels * 4", "tokens", "mlp"),
        "PvtLayer": conv("config, channels, 4, 0.0, 2, 4", "tokens, height, width", "layer")}),
    Family("efficientnet", "EfficientNetConfig()", attention=(), options=CONV_ACTS, blocks={
        "EfficientNetEmbeddings": patches(),
        "EfficientNetExpansionLayer": conv("config, channels, channels * 4, 1"),
        "EfficientNetDepthwiseLayer": conv("config, channels, stride, kernel_size, True"),
        "EfficientNetSqueezeExciteLayer": conv("config, channels, channels"),
        "EfficientNetFinalBlockLayer": conv("config, channels, channels, 1, 0.0, False",
                                            "maps, other_maps"),
        "EfficientNetBlock": conv("config, channels, channels, 1, 4, kernel_size, 0.0, False, "
                                  "True")},
        left={"EfficientNetDepthwiseConv2d": "torch.nn.Conv2d as it is"}),
    Family("bit", "BitConfig(num_groups=8, embedding_size=channels)", attention=(),
           options=CONV_ACTS, blocks={
        "WeightStandardizedConv2d": conv("channels, out_channels, kernel_size"),
        "BitGroupNormActivation": norm("config, channels"),
        "BitMaxPool2d": conv("3, 2, use_dynamic_padding=True", kind="pooling"),
        "BitEmbeddings": patches(),
        "BitPreActivationBottleneckLayer": conv("config, channels, out_channels, stride=stride, "
                                                "is_first_layer=True"),
        "BitBottleneckLayer": conv("config, channels, out_channels, stride=stride, "
                                   "is_first_layer=True"),
        "BitDownsampleConv": conv("config, channels, out_channels, stride=stride"),
        "BitStage": conv("config, channels, out_channels, stride, 1, 2", kind="stage")},
        left={"DynamicPad2d": "padding alone: torch.nn.functional.pad"}),
    Family("mobilevit", "MobileViTConfig()", key="key", attention=(), blocks={
        "MobileViTConvLayer": conv("config, channels, out_channels, kernel_size, stride=stride"),
        "MobileViTInvertedResidual": conv("config, channels, channels, stride"),
        "MobileViTMobileNetLayer": conv("config, channels, out_channels, stride=stride, "
                                        "num_stages=2", kind="stage"),
        "MobileViTLayer": conv("config, channels, channels, 1, hidden_size, 1", kind="layer"),
        "MobileViTOutput": Block("residual", "config, hidden_size, intermediate_size",
                                 "wide, residual")},
        left={"MobileViTASPPPooling": PART, "MobileViTASPP": PART,
              "MobileViTSelfOutput": "a linear layer: torch.nn.Linear"}),
    Family("dpt", f"DPTConfig({IMAGES}, fusion_hidden_size=channels)", key="key", blocks={
        "DPTViTEmbeddings": patches(result="[0]"),
        "DPTViTPatchEmbeddings": patches(),
        "DPTPreActResidualLayer": conv("config"),
        "DPTFeatureFusionLayer": conv("config", "maps, other_maps"),
        "DPTReassembleLayer": conv("config, channels, 2", "hidden_maps", "upsampling"),
        "DPTViTOutput": Block("residual", "config", "wide, residual")},
        left={"DPTViTSelfOutput": "a linear layer: torch.nn.Linear",
              "DPTViTHybridEmbeddings": "needs a backbone", "DPTReassembleStage": STACK,
              "DPTFeatureFusionStage": STACK, "DPTNeck": PART}),
    Family("whisper", f"WhisperConfig(d_model=hidden_size, encoder_attention_heads=num_heads, "
                      "decoder_attention_heads=num_heads, encoder_ffn_dim=intermediate_size, "
                      "decoder_ffn_dim=intermediate_size)", "padding",
           options={"activation_function": ('"gelu"', '"relu"')},
           blocks={"WhisperAttention": Block("attention", "hidden_size, num_heads, config=config, "
                                             "layer_idx=0", "hidden_states, "
                                             "key_value_states=memory"),
                   "WhisperDecoderLayer": Block("layer", "config, layer_idx=0", "hidden_states, "
                                                "attention_mask=self.causal, "
                                                "encoder_hidden_states=memory, use_cache=False")}),
    Family("wav2vec2", f"Wav2Vec2Config({PLAIN}, conv_dim=[hidden_size] * 7, "
                       "tdnn_dim=[hidden_size] * 5, adapter_attn_dim=16)", "padding", key="k_proj",
           options={"hidden_act": ('"gelu"', '"relu"')}, blocks={
        "Wav2Vec2NoLayerNormConvLayer": conv("config, layer_id=1", "waves"),
        "Wav2Vec2LayerNormConvLayer": conv("config, layer_id=1", "waves"),
        "Wav2Vec2GroupNormConvLayer": conv("config, layer_id=1", "waves"),
        "Wav2Vec2PositionalConvEmbedding": conv("config", "hidden_states"),
        "Wav2Vec2FeatureProjection": Block("normalisation", "config", result="[0]"),
        "Wav2Vec2AdapterLayer": conv("config", "waves"),
        "Wav2Vec2AttnAdapterLayer": Block("mlp", "config"),
        "Wav2Vec2EncoderLayerStableLayerNorm": Block("layer", "config"),
        "TDNNLayer": conv("config, layer_id=1", "hidden_states"),
        "Wav2Vec2Attention": Block("attention", "hidden_size, num_heads, config=config",
                                   "hidden_states, key_value_states=memory")},
        left={"Wav2Vec2SamePadLayer": "a slice", "Wav2Vec2FeatureEncoder": STACK,
              "Wav2Vec2Adapter": STACK, "AMSoftmaxLoss": "a loss over labels",
              "Wav2Vec2GumbelVectorQuantizer": "stochastic in training, a choice of codes "
                                               "otherwise"}),
)
