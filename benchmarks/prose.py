"""Sentences of invented English words and of Chinese phrases, from a given chance."""

from __future__ import annotations

import random

SYLLABLES = tuple(
    first + vowel + last for first in ("b", "d", "gr", "k", "l", "m", "pr", "s", "t", "v") for vowel in "aeiou" for last in "nrst"
)
WORDS_INVENTED = 6_000
PHRASES = (
    "先读取事件存储的入口", "重试时不能重复收费", "这里的时间没有时区", "旧客户端仍然发送文本", "序号只能由入口分配", "退款也走同一个函数",
    "测试在并发时会失败", "缓存命中以后不再查询", "日志里缺少请求编号", "合并之后再统一取整", "配置项没有默认值", "队列为空时不报错",
    "需要补上迁移脚本", "接口返回的字段变了", "这个分支从未执行", "超时之后重新连接", "把循环改成批量写入", "先确认再删除旧表",
)  # fmt: skip
CHARACTERS = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"
)


def invented_words(chance: random.Random) -> tuple[str, ...]:
    return tuple("".join(chance.choices(SYLLABLES, k=chance.randrange(1, 4))) for _ in range(WORDS_INVENTED))


WORDS = invented_words(random.Random(7))


def english(chance: random.Random, chars: int) -> str:
    """About `chars` characters of sentences."""
    parts: list[str] = []
    while chars > 0:
        sentence = " ".join(chance.choices(WORDS, k=chance.randrange(5, 16))).capitalize() + "."
        parts.append(sentence)
        chars -= len(sentence) + 1
    return " ".join(parts)


def chinese(chance: random.Random, chars: int) -> str:
    """About `chars` characters of sentences: a phrase, some characters at random, a number."""
    parts: list[str] = []
    while chars > 0:
        filling = "".join(chance.choices(CHARACTERS, k=chance.randrange(3, 9)))
        sentence = f"{chance.choice(PHRASES)}，{filling}（{chance.randrange(10, 9999)}）。"
        parts.append(sentence)
        chars -= len(sentence)
    return "".join(parts)
