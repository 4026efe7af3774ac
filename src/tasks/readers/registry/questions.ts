import type { Split } from '../../../schema/index.ts'
import { bamboogle, hotpotLike, musique, naturalQuestions, popQa, triviaQa } from '../formats/questions.ts'
import { type Benchmark, gitHub, hub } from './benchmark.ts'

export const questionBenchmarks: readonly Benchmark[] = [
  {
    name: 'hotpotqa',
    title: 'HotpotQA: questions over two pages',
    domain: 'multihop',
    checker: 'exact',
    licence: 'CC BY-SA 4.0',
    homepage: 'https://hotpotqa.github.io',
    format: hotpotLike,
    files: [
      {
        name: 'validation.parquet',
        url: hub('hotpotqa/hotpot_qa', 'distractor/validation-00000-of-00001.parquet'),
        split: 'dev',
      },
    ],
  },
  {
    name: '2wiki',
    title: '2WikiMultihopQA',
    domain: 'multihop',
    checker: 'exact',
    licence: 'Apache-2.0',
    homepage: 'https://github.com/Alab-NII/2wikimultihop',
    format: hotpotLike,
    files: [{ name: 'dev.parquet', url: hub('xanhho/2WikiMultihopQA', 'dev.parquet'), split: 'dev' }],
  },
  {
    name: 'musique',
    title: 'MuSiQue: two to four hops',
    domain: 'multihop',
    checker: 'exact',
    licence: 'CC BY 4.0',
    homepage: 'https://github.com/StonyBrookNLP/musique',
    format: musique,
    files: ['dev', 'train'].map((part) => ({
      name: `musique_ans_v1.0_${part}.jsonl`,
      url: hub('dgslibisey/MuSiQue', `musique_ans_v1.0_${part}.jsonl`),
      split: part as Split,
    })),
  },
  {
    name: 'nq',
    title: 'Natural Questions, open',
    domain: 'multihop',
    checker: 'exact',
    licence: 'CC BY-SA 3.0',
    homepage: 'https://github.com/google-research-datasets/natural-questions',
    format: naturalQuestions,
    files: [
      {
        name: 'NQ-open.dev.jsonl',
        url: gitHub(
          'google-research-datasets/natural-questions',
          'fb26a3073b1fe636c97302890a27b491d6530130',
          'nq_open/NQ-open.dev.jsonl',
        ),
        split: 'dev',
        sha256: 'f15567f38099f3615f5b8a685c0aef449c11ad90d3da3735e8d1b98115b40616',
      },
    ],
  },
  {
    name: 'triviaqa',
    title: 'TriviaQA, questions without documents',
    domain: 'multihop',
    checker: 'exact',
    licence: 'not stated for the questions; the code is Apache-2.0',
    homepage: 'https://nlp.cs.washington.edu/triviaqa',
    format: triviaQa,
    files: [
      {
        name: 'validation.parquet',
        url: hub('mandarjoshi/trivia_qa', 'rc.nocontext/validation-00000-of-00001.parquet'),
        split: 'dev',
      },
    ],
  },
  {
    name: 'popqa',
    title: 'PopQA: facts about rare and popular things',
    domain: 'multihop',
    checker: 'exact',
    licence: 'not stated on its card; see the home page',
    homepage: 'https://huggingface.co/datasets/akariasai/PopQA',
    format: popQa,
    files: [{ name: 'test.tsv', url: hub('akariasai/PopQA', 'test.tsv'), split: 'test' }],
  },
  {
    name: 'bamboogle',
    title: 'Bamboogle: questions a search engine gets wrong',
    domain: 'multihop',
    checker: 'exact',
    licence: 'MIT',
    homepage: 'https://github.com/ofirpress/self-ask',
    format: bamboogle,
    files: [
      { name: 'test.jsonl', url: hub('RUC-NLPIR/FlashRAG_datasets', 'bamboogle/test.jsonl'), split: 'test' },
    ],
  },
]
