import { ConfigError, nearestName } from '../../base/errors/index.ts'
import type { Dials } from '../../tasks/index.ts'

export const carefulDials: Dials = {
  slip: 0.04,
  notice: 0.95,
  detour: 0.03,
  repeat: 0.01,
  doubt: 0.03,
  recheck: 0.5,
  giveUp: 0,
}

export const erringDials: Dials = {
  slip: 0.3,
  notice: 0.5,
  detour: 0.15,
  repeat: 0.12,
  doubt: 0.15,
  recheck: 0.5,
  giveUp: 0.05,
}

/** Applies overrides such as "slip=0.2". */
export function overrideDials(dials: Dials, overrides: readonly string[]): Dials {
  const result = { ...dials }
  for (const rule of overrides) {
    const [name = '', value = ''] = rule.split('=').map((part) => part.trim())
    const probability = value === '' ? Number.NaN : Number(value)
    if (!Object.hasOwn(dials, name) || !(probability >= 0 && probability <= 1)) {
      const nearest = nearestName(name, Object.keys(dials))
      throw new ConfigError(`teach.dials: "${rule}" is not a valid dial`, {
        fix: `Write it as "${nearest ?? 'slip'}=0.2", a probability from 0 to 1. The dials are ${Object.keys(dials).join(', ')}.`,
      })
    }
    result[name as keyof Dials] = probability
  }
  return result
}
