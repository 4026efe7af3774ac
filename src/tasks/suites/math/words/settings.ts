import type { Setting } from './setting.ts'
import { publicSettings } from './settings-public.ts'
import { tradeSettings } from './settings-trade.ts'

export const settings: readonly Setting[] = [...tradeSettings, ...publicSettings]
