import { codeContests, humanEval, mbpp } from '../formats/code.ts'
import { liveCodeBench } from '../formats/live-code-bench.ts'
import { type Benchmark, type BenchmarkFile, gitHub, hub } from './benchmark.ts'

const liveCodeBenchFiles = ['test', 'test2', 'test3', 'test4', 'test5', 'test6'].map(
  (part): BenchmarkFile => ({
    name: `${part}.jsonl`,
    url: hub('livecodebench/code_generation_lite', `${part}.jsonl`),
    split: 'test',
  }),
)

export const codeBenchmarks: readonly Benchmark[] = [
  {
    name: 'mbpp',
    title: 'MBPP: short Python programs',
    domain: 'code',
    checker: 'code',
    licence: 'CC BY 4.0',
    homepage: 'https://github.com/google-research/google-research/tree/master/mbpp',
    format: mbpp,
    files: [
      {
        name: 'mbpp.jsonl',
        url: gitHub('google-research/google-research', 'master', 'mbpp/mbpp.jsonl'),
      },
    ],
  },
  {
    name: 'humaneval',
    title: 'HumanEval: Python functions from docstrings',
    domain: 'code',
    checker: 'code',
    licence: 'MIT',
    homepage: 'https://github.com/openai/human-eval',
    format: humanEval,
    files: [
      {
        name: 'HumanEval.jsonl.gz',
        url: gitHub(
          'openai/human-eval',
          '6d43fb980f9fee3c892a914eda09951f772ad10d',
          'data/HumanEval.jsonl.gz',
        ),
        split: 'test',
        sha256: 'b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef',
      },
    ],
  },
  {
    name: 'livecodebench',
    title: 'LiveCodeBench: code generation, lite',
    domain: 'code',
    checker: 'code',
    licence: 'Creative Commons, type not stated; problems from LeetCode, AtCoder and Codeforces',
    homepage: 'https://livecodebench.github.io',
    format: liveCodeBench,
    files: liveCodeBenchFiles,
  },
  {
    name: 'codecontests',
    title: 'CodeContests: competitive programming',
    domain: 'code',
    checker: 'code',
    licence: 'CC BY 4.0',
    homepage: 'https://github.com/google-deepmind/code_contests',
    format: codeContests,
    files: [
      {
        name: 'test.parquet',
        url: hub('deepmind/code_contests', 'data/test-00000-of-00001-9c49eeff30aacaa8.parquet'),
        split: 'test',
      },
      {
        name: 'valid.parquet',
        url: hub('deepmind/code_contests', 'data/valid-00000-of-00001-5e672c5751f060d3.parquet'),
        split: 'dev',
      },
    ],
  },
]
