import { z } from 'zod'
import { serverAddress } from '../settings/index.ts'

/** The engine that trains and samples the student. */
export const EngineSection = z
  .strictObject({
    /** embedded: inside Node. tinker: a server such as `coa trainer start`. openai: any server, sampling only. */
    driver: z.enum(['embedded', 'tinker', 'openai']).default('embedded'),
    url: serverAddress.optional(),
    /** Environment variable with the API key. */
    key_env: z.string().min(1).default('COA_ENGINE_KEY'),
    /** Device of the embedded engine. Unset: cpu, or wasm if that is unavailable. */
    device: z.enum(['cpu', 'wasm', 'webgpu']).optional(),
    /** Number of threads; 0: all cores, at most 8. */
    threads: z.number().int().nonnegative().default(0),
  })
  .prefault({})
export type EngineSection = z.infer<typeof EngineSection>
