import type { LogFormat } from '../contract.ts'
import { at, isObject, listOf } from '../json.ts'
import { spanMarkup } from '../spans/markup.ts'
import { readSpans } from '../spans/read-spans.ts'
import { hasSpans } from '../spans/spans-of.ts'

/** Spans as Phoenix lists them: `px trace get` files, REST pages, and rows of a data frame of spans. */
export const openinference: LogFormat = {
  name: 'openinference',
  title: 'Phoenix and other OpenInference spans: lists, traces, rows of a data frame',
  matches: (value) =>
    isRow(value) || listOf(at(value, 'spans')).some(isRow) || listOf(at(value, 'data')).some(isRow),
  markup: spanMarkup,
  read: readSpans,
}

const isRow = (value: unknown): boolean =>
  isObject(value) && typeof value['span_kind'] === 'string' && hasSpans(value)
