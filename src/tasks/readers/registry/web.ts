import { browseComp, gaia, hle, webWalkerQa } from '../formats/web.ts'
import { type Benchmark, hub } from './benchmark.ts'

export const webBenchmarks: readonly Benchmark[] = [
  {
    name: 'gaia',
    title: 'GAIA: questions for assistants, validation split without files',
    domain: 'web',
    checker: 'exact',
    licence: 'see its page; must not be reshared in a crawlable format',
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
    title: 'BrowseComp: hard-to-find facts',
    domain: 'web',
    checker: 'judge',
    licence: 'MIT; published encrypted, must not be published in plain text',
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
    title: "Humanity's Last Exam, text questions",
    domain: 'web',
    checker: 'judge',
    licence: 'MIT; must not be used as training data',
    homepage: 'https://lastexam.ai',
    format: hle,
    isGated: true,
    files: [
      { name: 'test.parquet', url: hub('cais/hle', 'data/test-00000-of-00001.parquet'), split: 'test' },
    ],
  },
  {
    name: 'webwalkerqa',
    title: 'WebWalkerQA: questions about websites',
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
