/** A built-in rule, as data. */
export interface VoiceRule {
  name: string
  /**
   * A regular expression. `WHO` stands for a member of the team ("the planner", "Solver A", "the coder agent"), `NAME` for
   * the bare name, `START` for the start of a sentence or line, and `REST` for the rest of a sentence, at most 120
   * characters: every quantifier is bounded, so that no text takes quadratic time.
   */
  pattern: string
  /** What the text becomes, in the first person; empty if it is cut. `$1` is the first group. */
  replacement: string
  /** Case matters: "terminate" is a word, "TERMINATE" a command. */
  exactCase?: true
  /** Text without this has no match; makes most texts cheap. Rules with names are skipped if no name occurs. */
  hint?: RegExp
  /** The match is a wrapper that a runtime wrote, so its own numbers may go with it. */
  wrapper?: true
  /** A sentence and what becomes of it, in a team of `planner`, `coder`, `searcher`, `critic` and `verifier`. */
  example: readonly [string, string]
}
