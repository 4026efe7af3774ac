import { gpt2Pattern } from '../../language/tokens/word-scanner.ts'

/** How text is split into words before BPE: a list of patterns, each applied to the result of the previous one. */
export interface PreTokenizer {
  /** llama.cpp's name, and other names for the same pattern. */
  names: readonly string[]
  patterns: readonly string[]
  /** A word that is a token is kept whole, regardless of merges. */
  ignoreMerges: boolean
  /** llama.cpp's default if the file does not specify it. */
  addsBegin: boolean
  /** Whether its name stands for these patterns only in text with separated words: see word-separator.ts. */
  separated?: boolean
}

const eachDigit = '\\p{N}'
const later = (digits: string): string =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`

/**
 * The pattern of models/nano. Every number is a word of its own in it, so the pre-tokenizer `superbpe`, which splits numbers
 * off, cuts nowhere else.
 */
export const separatedPattern =
  '\\p{Lu}+\\p{Ll}*| ?\\p{Ll}+(?: (?=[\\p{Lu}\\p{N}]))?|\\p{N}| ?[^\\s\\p{L}\\p{N}]+(?: (?=[\\p{Lu}\\p{N}]))?|\\n+| +|\\s|\\p{L}'

const plain = { ignoreMerges: false, addsBegin: false }

/** llama.cpp's pre-tokenizers for models of the llama and qwen families. */
const known: readonly PreTokenizer[] = [
  { names: ['qwen2', 'deepseek-r1-qwen', 'stablelm2', 'hunyuan'], patterns: [later('\\p{N}')], ...plain },
  {
    names: ['llama-bpe', 'llama3', 'llama-v3', 'falcon3', 'falcon-h1', 'pixtral', 'lfm2'],
    patterns: [later('\\p{N}{1,3}')],
    ignoreMerges: true,
    addsBegin: true,
  },
  { names: ['dbrx', 'smaug-bpe'], patterns: [later('\\p{N}{1,3}')], ...plain },
  {
    names: ['smollm', 'starcoder', 'refact', 'command-r', 'codeshell', 'exaone', 'minerva-7b'],
    patterns: [eachDigit, gpt2Pattern],
    ...plain,
  },
  {
    names: ['gpt-2', 'phi-2', 'gigachat', 'a.x-4.0', 'mellum', 'mpt', 'olmo', 'jais', 'trillion'],
    patterns: [gpt2Pattern],
    ...plain,
  },
  { names: ['superbpe'], patterns: [separatedPattern], ...plain, separated: true },
]

export function preTokenizerNamed(name: string, separated: boolean): PreTokenizer | undefined {
  return known.find((each) => each.names.includes(name) && (each.separated ?? false) === separated)
}

export function preTokenizerWith(
  patterns: readonly string[],
  ignoreMerges: boolean,
): PreTokenizer | undefined {
  return known.find(
    (each) => each.ignoreMerges === ignoreMerges && each.patterns.join('\0') === patterns.join('\0'),
  )
}

interface Component {
  type: string
  [field: string]: unknown
}

/** The patterns of a tokenizer.json's pre-tokenizer; undefined if it does more than split. */
export function patternsOf(component: unknown): string[] | undefined {
  const steps = flat(component as Component | null | undefined)
  const last = steps.pop()
  if (last?.type !== 'ByteLevel' || last['add_prefix_space'] !== false) return undefined
  const patterns: string[] = []
  for (const step of steps) {
    const pattern = step.type === 'Digits' && step['individual_digits'] === true ? eachDigit : isolated(step)
    if (pattern === undefined) return undefined
    patterns.push(pattern)
  }
  return last['use_regex'] === false ? patterns : [...patterns, gpt2Pattern]
}

function isolated(step: Component): string | undefined {
  const { Regex: regex } = (step['pattern'] ?? {}) as { Regex?: string }
  return step.type === 'Split' && step['behavior'] === 'Isolated' && step['invert'] !== true
    ? regex
    : undefined
}

function flat(component: Component | null | undefined): Component[] {
  if (component === null || component === undefined) return []
  if (component.type !== 'Sequence') return [component]
  return ((component['pretokenizers'] ?? []) as Component[]).flatMap(flat)
}

/** The tokenizer.json pre-tokenizer for these patterns. */
export function componentOf({ patterns }: PreTokenizer): Record<string, unknown> {
  return {
    type: 'Sequence',
    pretokenizers: [
      ...patterns.map((pattern) => ({
        type: 'Split',
        pattern: { Regex: pattern },
        behavior: 'Isolated',
        invert: false,
      })),
      { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    ],
  }
}
