/** Text of a log that is in no event. */
export interface LeftOut {
  /** Where in the record it was, such as `history[3].role`. */
  at: string
  reason: string
  text: string
}
