import type { ReactNode } from 'react'
import { to } from '../data/url.ts'

interface LinkProps {
  parts: readonly string[]
  query?: Record<string, string | number | boolean | undefined>
  className?: string
  children: ReactNode
  title?: string
}

/** A link within the studio; the address changes without loading anything. */
export function Link({ parts, query, children, ...rest }: LinkProps): ReactNode {
  return (
    <a href={to(parts, query)} {...rest}>
      {children}
    </a>
  )
}
