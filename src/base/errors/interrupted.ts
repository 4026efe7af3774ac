/**
 * The reason of a signal that the user aborts, as with Ctrl-C. Work that saves something before it stops rejects with another
 * one that says so.
 */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
