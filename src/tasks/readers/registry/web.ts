import { browseComp, gaia, hle, webWalkerQa } from '../formats/web.ts'
import { type Benchmark, hub } from './benchmark.ts'

export const webBenchmarks: readonly Benchmark[] = [
  {
    name: 'gaia',
    title: 'GAIA: questions for assistants, validation split without files',
    domain: 'web',
    checker: 'exact',
    licence: 'terms of its page: not to be shared again in a form that can be crawled',
    homepage: 'https://huggingface.co/datasets/gaia-benchmark/GAIA',
    format: gaia,
    isGated: true,
    files: [
      {
        name: 'validation.parquet',
        url: hub('gaia-benchmark/GAIA', '2023/validation/metadata.parquet'),
        split: 'dev',
      },
    ],
  },
  {
    name: 'browsecomp',
    title: 'BrowseComp: facts that are hard to find',
    domain: 'web',
    checker: 'judge',
    licence: 'MIT; published encrypted, and asked to be kept out of plain text',
    homepage: 'https://openai.com/index/browsecomp',
    format: browseComp,
    files: [
      {
        name: 'browse_comp_test_set.csv',
        url: 'https://openaipublic.blob.core.windows.net/simple-evals/browse_comp_test_set.csv',
        split: 'test',
      },
    ],
  },
  {
    name: 'hle',
    title: "Humanity's Last Exam, the questions in text",
    domain: 'web',
    checker: 'judge',
    licence: 'MIT; asked to be kept out of training data',
    homepage: 'https://lastexam.ai',
    format: hle,
    isGated: true,
    files: [
      { name: 'test.parquet', url: hub('cais/hle', 'data/test-00000-of-00001.parquet'), split: 'test' },
    ],
  },
  {
    name: 'webwalkerqa',
    title: 'WebWalkerQA: questions about web sites',
    domain: 'web',
    checker: 'judge',
    licence: 'Apache-2.0',
    homepage: 'https://huggingface.co/datasets/callanwu/WebWalkerQA',
    format: webWalkerQa,
    files: [
      {
        name: 'main.jsonl',
        url: hub('callanwu/WebWalkerQA', 'data/main-00000-of-00001.jsonl'),
        split: 'test',
      },
    ],
  },
]
