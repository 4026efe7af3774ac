/**
 * Hosts with copies of public benchmarks and their answers: reading a page there is cheating, not research. Settings
 * can extend this default list.
 */
export const benchmarkHosts = [
  'huggingface.co',
  'hf.co',
  'hf-mirror.com',
  'modelscope.cn',
  'kaggle.com',
  'paperswithcode.com',
]

/** True for a listed host and its subdomains. */
export function isBlockedHost(host: string, blocked: readonly string[] = benchmarkHosts): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return blocked.some((entry) => name === entry || name.endsWith(`.${entry}`))
}

/** Shorter questions occur in ordinary pages. */
const MIN_WORDS = 8

/** True if a text contains the question verbatim, as a leaked benchmark does, ignoring case and punctuation. */
export function repeatsQuestion(text: string, question: string): boolean {
  const wanted = words(question)
  if (wanted.length < MIN_WORDS) return false
  return ` ${words(text).join(' ')} `.includes(` ${wanted.join(' ')} `)
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
