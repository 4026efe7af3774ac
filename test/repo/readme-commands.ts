/** The commands of a page, in their order: every line of its shell blocks, without the comment. */
export function commandsIn(page: string): string[] {
  return [...page.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block]) =>
    block!
      .split('\n')
      .map((line) => line.replace(/\s+# .*$/, '').trim())
      .filter((line) => line !== ''),
  )
}

/** The commands that an output ends with under "Next:", comments left out. */
export function nextCommandsIn(output: string): string[] {
  const lines = output.split('\n')
  const at = lines.indexOf('Next:')
  if (at === -1) return []
  const after = lines.slice(at + 1)
  const end = after.findIndex((line) => !line.startsWith('  '))
  return after.slice(0, end === -1 ? undefined : end).map((line) => line.replace(/\s+# .*$/, '').trim())
}
