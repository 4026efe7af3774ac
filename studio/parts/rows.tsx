import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { List } from '../data/queries.ts'
import { setQuery, usePlace } from '../data/url.ts'
import { whole } from './format.ts'
import { useKeys } from './keys.tsx'
import { Empty, IndexingNote, Loading, Problem } from './screen.tsx'

export interface Column<Row> {
  head: string
  cell: (row: Row) => ReactNode
  /** A grid track, such as `minmax(10rem,2fr)`. */
  width: string
  /** Numbers are on the right. */
  number?: boolean
}

interface RowsProps<Row> {
  label: string
  list: List<Row>
  /** The first is the row's name and its link. */
  columns: Column<Row>[]
  idOf: (row: Row) => string
  hrefOf: (row: Row) => string
  empty: ReactNode
}

const HEIGHT = 37

/** A table of any length: only the rows in view are in the page. On phones a row becomes a card. */
export function Rows<Row>({ label, list, columns, idOf, hrefOf, empty }: RowsProps<Row>): ReactNode {
  const { rows, hasMore, loadMore, total } = list
  const body = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const at = usePlace().query.get('at')
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => HEIGHT,
    overscan: 12,
    scrollMargin: top,
    getItemKey: (index) => idOf(rows[index]!),
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useLayoutEffect(() => {
    const offset = body.current === null ? 0 : body.current.getBoundingClientRect().top + scrollY
    if (Math.abs(offset - top) > 1) setTop(offset)
  })
  useEffect(() => {
    if (hasMore && last >= rows.length - 30) loadMore()
  })

  const focused = (): number =>
    Number(document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset['row'] ?? Number.NaN)
  const focusRow = (index: number): void => {
    const row = Math.max(0, Math.min(rows.length - 1, index))
    virtual.scrollToIndex(row, { align: 'auto' })
    const tryToFocus = (left: number): void => {
      const link = body.current?.querySelector<HTMLElement>(`[data-row="${row}"] a`)
      if (link) link.focus({ preventScroll: true })
      else if (left > 0) requestAnimationFrame(() => tryToFocus(left - 1))
    }
    tryToFocus(10)
  }
  const move = (by: number) => () =>
    focusRow(Number.isNaN(focused()) ? (by > 0 ? 0 : rows.length - 1) : focused() + by)
  useKeys({ j: move(1), k: move(-1) })

  // Coming back to the list, the row that was opened gets the focus again.
  const wanted = useRef(at)
  useEffect(() => {
    if (wanted.current === null) return
    const index = rows.findIndex((row) => idOf(row) === wanted.current)
    if (index < 0) return
    wanted.current = null
    focusRow(index)
  })

  if (list.problem !== null) return <Problem problem={list.problem} />
  if (list.isLoading) return <Loading />
  if (rows.length === 0)
    return (
      <>
        <IndexingNote indexing={list.indexing} />
        {typeof empty === 'string' ? <Empty>{empty}</Empty> : empty}
      </>
    )
  const template = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') }
  return (
    <>
      <IndexingNote indexing={list.indexing} />
      <div
        className="rows"
        role="table"
        aria-label={label}
        aria-rowcount={hasMore ? (total ?? -1) : rows.length + 1}
        aria-colcount={columns.length}
      >
        <div className="head" role="row" aria-rowindex={1} style={template}>
          {columns.map(({ head, number }) => (
            <div role="columnheader" key={head} className={number ? 'number' : undefined}>
              {head}
            </div>
          ))}
        </div>
        <div ref={body} role="rowgroup" className="body" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const row = rows[index]!
            return (
              <div
                role="row"
                key={key}
                aria-rowindex={index + 2}
                data-row={index}
                data-index={index}
                ref={virtual.measureElement}
                className="row"
                style={{ ...template, transform: `translateY(${start - top}px)` }}
              >
                {columns.map(({ head, cell, number }, column) => (
                  <div role="cell" key={head} data-head={head} className={number ? 'number' : undefined}>
                    {column === 0 ? (
                      <a href={hrefOf(row)} onClick={() => setQuery({ at: idOf(row) })}>
                        {cell(row)}
                      </a>
                    ) : (
                      cell(row)
                    )}
                  </div>
                ))}
              </div>
            )
          })}
        </div>
      </div>
      <p className="note">
        {hasMore
          ? `${whole(rows.length)}${total === undefined ? '' : ` of ${whole(total)}`} loaded; more follow as you scroll`
          : `${whole(rows.length)} in all`}
      </p>
    </>
  )
}
