import type { Component } from './tokenizer-json.ts'

/** The control tokens that a tokenizer adds around a text on request, such as <s> at the start. */
export interface SpecialFrame {
  before: number[]
  after: number[]
}

type TemplateItem = { SpecialToken?: { id: string }; Sequence?: { id: string } }

export function createSpecialFrame(
  component: Component | null | undefined,
  tokenToId: (token: string) => number | undefined,
): SpecialFrame {
  const frame: SpecialFrame = { before: [], after: [] }
  if (component === null || component === undefined) return frame
  const idsOf = (names: string[]): number[] => names.map(tokenToId).filter((id) => id !== undefined)
  switch (component.type) {
    case 'Sequence':
      for (const part of (component['processors'] ?? []) as Component[]) {
        const { before, after } = createSpecialFrame(part, tokenToId)
        frame.before.unshift(...before)
        frame.after.push(...after)
      }
      return frame
    case 'TemplateProcessing': {
      let side = frame.before
      for (const item of (component['single'] ?? []) as TemplateItem[]) {
        if (item.Sequence !== undefined) side = frame.after
        if (item.SpecialToken === undefined) continue
        const special = (component['special_tokens'] as Record<string, { ids?: number[] }> | undefined)?.[
          item.SpecialToken.id
        ]
        side.push(...(special?.ids ?? idsOf([item.SpecialToken.id])))
      }
      return frame
    }
    case 'BertProcessing':
    case 'RobertaProcessing':
      return {
        before: idsOf([(component['cls'] as [string, number])[0]]),
        after: idsOf([(component['sep'] as [string, number])[0]]),
      }
    default:
      return frame
  }
}
