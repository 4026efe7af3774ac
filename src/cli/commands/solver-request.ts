/** A solver requested on the command line. */
export type SolverRequest =
  | { kind: 'model' | 'text'; folder: string; name?: string }
  | { kind: 'team' }
  /** Without a folder, the model from the settings. */
  | { kind: 'plain' | 'react'; folder?: string; name?: string }

/** Parses a model folder with an optional name, such as "base=models/nano". */
export function readModel(text: string): { folder: string; name?: string } {
  const named = /^([\w.-]+)=(.+)$/.exec(text)
  return named === null ? { folder: text } : { name: named[1]!, folder: named[2]! }
}
