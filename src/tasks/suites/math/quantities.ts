import type { Amount } from './operations.ts'
import type { Noun } from './words/setting.ts'

interface Holding {
  holder: string
  amount: Amount
}

/** The current quantity of the story. `ref` refers to it in later sentences; `ask` are ways to ask for it. */
export type Current =
  /** Several holders of the same thing; the newest is last. */
  | { kind: 'holdings'; thing: Noun; holdings: readonly Holding[] }
  /** Countable things; `ref` is plural. `packing` counts how often they were packed into something larger. */
  | { kind: 'pile'; thing: Noun; amount: Amount; ref: string; packing: number; ask: readonly string[] }
  | { kind: 'money'; amount: Amount; ref: string; flow: 'takings' | 'bill'; ask: readonly string[] }
  /** In minutes. */
  | { kind: 'time'; amount: Amount; ref: string; ask: readonly string[] }
  /** In kilograms, kilometers or liters. */
  | { kind: 'mass' | 'distance' | 'volume'; amount: Amount; ref: string; ask: readonly string[] }
  /** The story cannot continue from here. */
  | { kind: 'end'; amount: Amount; ask: readonly string[]; isMoney?: boolean }

export type Holdings = Extract<Current, { kind: 'holdings' }>
export type Pile = Extract<Current, { kind: 'pile' }>
export type Money = Extract<Current, { kind: 'money' }>
export type Time = Extract<Current, { kind: 'time' }>
export type Bulk = Extract<Current, { kind: 'mass' | 'distance' | 'volume' }>
