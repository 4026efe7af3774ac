import { type ReactNode, type RefObject, useEffect, useState } from 'react'

interface ConnectorsProps {
  box: RefObject<HTMLElement | null>
  /** Ids of elements on the left and on the right. */
  pairs: readonly (readonly [string, string])[]
}

/** Lines between what belongs together in two panes; they follow scrolling. Links say the same in words. */
export function Connectors({ box, pairs }: ConnectorsProps): ReactNode {
  const [paths, setPaths] = useState<string[]>([])
  const key = pairs.flat().join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the pairs are in the key
  useEffect(() => {
    const host = box.current
    if (host === null) return
    let frame = 0
    const draw = (): void => {
      frame = 0
      const frameBox = host.getBoundingClientRect()
      setPaths(pairs.flatMap(([left, right]) => pathBetween(left, right, frameBox) ?? []))
    }
    const later = (): void => {
      if (frame === 0) frame = requestAnimationFrame(draw)
    }
    later()
    host.addEventListener('scroll', later, { capture: true, passive: true })
    addEventListener('resize', later)
    return () => {
      cancelAnimationFrame(frame)
      host.removeEventListener('scroll', later, { capture: true })
      removeEventListener('resize', later)
    }
  }, [key])
  return (
    <svg className="connectors" aria-hidden="true">
      {paths.map((path, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be the same
        <path key={index} d={path} />
      ))}
    </svg>
  )
}

function pathBetween(left: string, right: string, frame: DOMRect): string | undefined {
  const [one, other] = [document.getElementById(left), document.getElementById(right)]
  if (one === null || other === null) return undefined
  const [from, to] = [edge(one), edge(other)]
  const x1 = from.right - frame.left
  const x2 = to.left - frame.left
  if (x2 <= x1) return undefined
  const middle = (x1 + x2) / 2
  const y1 = from.y - frame.top
  const y2 = to.y - frame.top
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
}

/** The head of an element, no further than its pane. */
function edge(element: HTMLElement): { left: number; right: number; y: number } {
  const own = element.getBoundingClientRect()
  const pane = element.closest('.pane')!.getBoundingClientRect()
  return {
    left: pane.left,
    right: pane.right,
    y: Math.max(pane.top + 4, Math.min(pane.bottom - 4, own.top + 14)),
  }
}
