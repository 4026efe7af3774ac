import { z } from 'zod'

/**
 * An id that becomes the name of a file or folder: no separators, no leading dot (`..`, hidden files), nothing that a
 * shell or another file system would stumble over. Ids come from records that somebody else may have written, so they
 * are checked with their record and once more where they become a path.
 */
export const PathName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    'not a plain name of letters, digits, dots, dashes and underscores',
  )
