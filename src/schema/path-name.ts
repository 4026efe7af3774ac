import { z } from 'zod'

/**
 * An id used as a file or folder name: no separators, no leading dot (`..`, hidden files), nothing that is special to
 * a shell or another file system. Records may come from others, so ids are checked with their record and again where
 * they become a path.
 */
export const PathName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    'not a plain name of letters, digits, dots, dashes and underscores',
  )
