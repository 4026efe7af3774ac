import { gsm8k, olympiadBench, shortMathAnswer } from '../formats/math.ts'
import { type Benchmark, gitHub, hub } from './benchmark.ts'

const competition = 'none stated by this copy; the problems are © Mathematical Association of America'

export const mathBenchmarks: readonly Benchmark[] = [
  {
    name: 'gsm8k',
    title: 'GSM8K: grade school word problems',
    domain: 'math',
    checker: 'math',
    licence: 'MIT',
    homepage: 'https://github.com/openai/grade-school-math',
    format: gsm8k,
    files: [
      {
        name: 'test.jsonl',
        url: gitHub(
          'openai/grade-school-math',
          '3101c7d5072418e28b9008a6636bde82a006892c',
          'grade_school_math/data/test.jsonl',
        ),
        split: 'test',
        sha256: '3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14',
      },
      {
        name: 'train.jsonl',
        url: gitHub(
          'openai/grade-school-math',
          '3101c7d5072418e28b9008a6636bde82a006892c',
          'grade_school_math/data/train.jsonl',
        ),
        split: 'train',
        sha256: '17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465',
      },
    ],
  },
  {
    name: 'math-500',
    title: 'MATH-500: 500 problems from the MATH test set',
    domain: 'math',
    checker: 'math',
    licence: 'MIT (the MATH data set)',
    homepage: 'https://huggingface.co/datasets/HuggingFaceH4/MATH-500',
    format: shortMathAnswer,
    files: [{ name: 'test.jsonl', url: hub('HuggingFaceH4/MATH-500', 'test.jsonl'), split: 'test' }],
  },
  {
    name: 'aime24',
    title: 'AIME 2024, I and II',
    domain: 'math',
    checker: 'math',
    licence: competition,
    homepage: 'https://huggingface.co/datasets/HuggingFaceH4/aime_2024',
    format: shortMathAnswer,
    files: [
      {
        name: 'aime24.parquet',
        url: hub('HuggingFaceH4/aime_2024', 'data/train-00000-of-00001.parquet'),
        split: 'test',
      },
    ],
  },
  {
    name: 'aime25',
    title: 'AIME 2025, I and II',
    domain: 'math',
    checker: 'math',
    licence: competition,
    homepage: 'https://huggingface.co/datasets/math-ai/aime25',
    format: shortMathAnswer,
    files: [{ name: 'test.jsonl', url: hub('math-ai/aime25', 'test.jsonl'), split: 'test' }],
  },
  {
    name: 'amc23',
    title: 'AMC 2023, 40 problems',
    domain: 'math',
    checker: 'math',
    licence: competition,
    homepage: 'https://huggingface.co/datasets/math-ai/amc23',
    format: shortMathAnswer,
    files: [
      { name: 'test.parquet', url: hub('math-ai/amc23', 'test-00000-of-00001.parquet'), split: 'test' },
    ],
  },
  {
    name: 'olympiadbench',
    title: 'OlympiadBench: open-ended English text problems in math',
    domain: 'math',
    checker: 'math',
    licence: 'Apache-2.0',
    homepage: 'https://github.com/OpenBMB/OlympiadBench',
    format: olympiadBench,
    files: [
      {
        name: 'OE_TO_maths_en_COMP.parquet',
        url: hub('Hothan/OlympiadBench', 'OlympiadBench/OE_TO_maths_en_COMP/OE_TO_maths_en_COMP.parquet'),
        split: 'test',
      },
    ],
  },
]
