/**
 * Hosts that carry copies of public benchmarks with their answers. A page found there is not research. The list is
 * a default: settings may add to it.
 */
export const benchmarkHosts = [
  'huggingface.co',
  'hf.co',
  'hf-mirror.com',
  'modelscope.cn',
  'kaggle.com',
  'paperswithcode.com',
]

/** True for a listed host and anything below it. */
export function isBlockedHost(host: string, blocked: readonly string[] = benchmarkHosts): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return blocked.some((entry) => name === entry || name.endsWith(`.${entry}`))
}

/** Shorter questions occur in honest pages. */
const FEWEST_WORDS = 8

/** True when a text holds the question word for word, as a leaked benchmark does; case and punctuation aside. */
export function repeatsQuestion(text: string, question: string): boolean {
  const wanted = words(question)
  if (wanted.length < FEWEST_WORDS) return false
  return ` ${words(text).join(' ')} `.includes(` ${wanted.join(' ')} `)
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
