/** A solver as it is asked for on the command line. */
export type SolverRequest =
  | { kind: 'model' | 'text'; folder: string; name?: string }
  | { kind: 'team' }
  /** With the folder of a model, or with the model of the settings. */
  | { kind: 'plain' | 'react'; folder?: string; name?: string }

/** A folder, or a name and a folder as in "base=models/nano". */
export function readModel(text: string): { folder: string; name?: string } {
  const named = /^([\w.-]+)=(.+)$/.exec(text)
  return named === null ? { folder: text } : { name: named[1]!, folder: named[2]! }
}
