"""What the prompts of some calls of the shared sessions held, counted by hand and by a plain reading of the rules."""

ORACLES = {
    # session: call@line: distinct tool calls / results in its prompt / of them cleared by micro-compaction
    "codemie-ai__codemie-code__conv-c3a574c5": "52@173: 64/64",
    "entireio__cli__23-72de7ea2ff-0": "108@426: 128/128 · 109@434: 0/0 · 118@467: 9/9",
    "entireio__cli__25-730c662552-0": "67@344: 77/77 · 68@376: 0/0 · 123@784: 80/80 · 124@805: 0/0 · 169@1025: 46/46",
    "entireio__cli__37-995ebed6e4-2": "42@168: 41/41",
    "entireio__cli__68-60e2316a8a-0": "35@141: 38/38",
    "entireio__cli__86-9d11344fce-1": "68@361: 73/73 · 69@418: 0/0 · 76@460: 12/12",
    "entireio__cli__8c-fa910f8ef9-5": "56@219: 24/24",
    "entireio__cli__91-b42542f24f-0": "36@264: 67/67 · 37@274: 0/0 · 50@364: 17/17",
    "entireio__cli__9b-04c3d92e38-4": "74@363: 94/94 · 75@372: 0/0 · 94@535: 21/21",
    "entireio__cli__b0-dc55b3a1dc-1": "44@212: 53/53 · 45@216: 54/54/9 · 74@347: 77/77/9 · 75@353: 78/78/27 · 100@480: 97/97/27 · "
    "101@487: 0/0 · 131@719: 30/30",
    "entireio__cli__b6-f735fbac66-0": "123@423: 117/117 · 124@428: 0/0 · 208@764: 96/96 · 209@769: 0/0 · 219@810: 9/9",
    "entireio__cli__bc-cb77bb88fa-1": "72@343: 56/56 · 73@351: 0/0 · 133@637: 69/69 · 134@644: 0/0 · 198@993: 67/67",
    "entireio__cli__f5-dab3d95bc1-0": "97@533: 93/93 · 98@541: 0/0 · 134@751: 44/44 · 135@767: 0/0 · 223@1158: 80/80",
    "entireio__cli__fc-99c919b212-0": "112@574: 99/99 · 113@580: 0/0 · 134@745: 27/27",
}
