import { StoreError } from '../base/errors/index.ts'
import { PathName } from '../schema/index.ts'

/** The id, if it may become the name of a file or folder; `what` says of what. */
export function checkPathName(id: string, what: string): string {
  if (PathName.safeParse(id).success) return id
  throw new StoreError(`${JSON.stringify(id)} cannot be the name of ${what}`, {
    fix: 'Use up to 100 letters, digits, dots, dashes and underscores, beginning with a letter or digit.',
    details: { id },
  })
}
