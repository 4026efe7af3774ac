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
