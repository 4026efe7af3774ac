import type { Amount } from './operations.ts'
import type { Noun } from './words/setting.ts'

interface Holding {
  holder: string
  amount: Amount
}

/** What the story has arrived at. `ref` names it in the sentences that follow; `ask` are ways to ask for it. */
export type Current =
  /** Several holders of the same thing; the newest is the last. */
  | { kind: 'holdings'; thing: Noun; holdings: readonly Holding[] }
  /** Countable things; `ref` is plural. `packing` counts how often they were put into something larger. */
  | { kind: 'pile'; thing: Noun; amount: Amount; ref: string; packing: number; ask: readonly string[] }
  | { kind: 'money'; amount: Amount; ref: string; flow: 'takings' | 'bill'; ask: readonly string[] }
  /** In minutes. */
  | { kind: 'time'; amount: Amount; ref: string; ask: readonly string[] }
  /** In kilograms, kilometres or litres. */
  | { kind: 'mass' | 'distance' | 'volume'; amount: Amount; ref: string; ask: readonly string[] }
  /** Nothing sensible follows from it. */
  | { kind: 'end'; amount: Amount; ask: readonly string[]; isMoney?: boolean }

export type Holdings = Extract<Current, { kind: 'holdings' }>
export type Pile = Extract<Current, { kind: 'pile' }>
export type Money = Extract<Current, { kind: 'money' }>
export type Time = Extract<Current, { kind: 'time' }>
export type Bulk = Extract<Current, { kind: 'mass' | 'distance' | 'volume' }>
